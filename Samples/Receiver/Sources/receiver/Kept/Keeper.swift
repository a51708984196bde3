import CaptureBundle
import CaptureQueue
import QueueModel

/// Keeps verified captures: pushes them into the queue and writes their index rows. Captures that arrive at the same
/// time share the transactions, because each transaction waits for the disk.
///
/// One batch is kept at a time, so no other request comes between the check of a request and its rows.
actor Keeper {
    /// A verified bundle that is not kept yet.
    struct Arrival: Sendable {
        let bundle: ReceivedBundle
        let device: RegisteredDevice
        let manifest: Manifest
        let request: CaptureRequest

        fileprivate func row(_ id: String) -> CaptureRow {
            CaptureRow(id, device, manifest, bundle.report, verdict: bundle.report.verdict.word, at: UnixTime.now)
        }
    }

    private typealias Waiting = (arrival: Arrival, continuation: CheckedContinuation<String, any Error>)

    private let depot: Depot
    private var waiting: [Waiting] = []
    private var isWorking = false

    init(_ depot: Depot) { self.depot = depot }

    /// Keeps a capture. The identical capture again is not a second one. If its bytes were lost or damaged here, they are
    /// stored again.
    ///
    /// - Returns: Its id, once the queue and the index have it on the disk.
    func keep(_ arrival: Arrival) async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            waiting.append((arrival, continuation))
            guard !isWorking else { return }
            isWorking = true
            Task { await work() }
        }
    }

    private func work() async {
        while let batch = nextBatch() {
            let arrivals = batch.map(\.arrival)
            let results: [Result<String, any Error>]
            do { results = try await depot.threads.run { self.keep(arrivals) } } catch {
                results = batch.map { _ in .failure(error) }
            }
            for (waiting, result) in zip(batch, results) { waiting.continuation.resume(with: result) }
            // Captures that came while the batch waited for a lock do not wait for the same lock after it: their devices
            // hear nothing meanwhile, and take a request without an answer for a try that failed.
            if let error = results.compactMap(\.lockTaken).first {
                for late in waiting { late.continuation.resume(throwing: error) }
                waiting = []
            }
        }
        isWorking = false
    }

    /// Takes the waiting captures. Of requests with the same body or the same key, only the first is taken.
    private func nextBatch() -> [Waiting]? {
        var seen: Set<[String]> = []
        var batch: [Waiting] = []
        var later: [Waiting] = []
        for waiting in waiting {
            let request = waiting.arrival.request
            var marks = [[request.device, request.bodySHA256.description]]
            if let key = request.idempotencyKey { marks.append([request.device, "key", key]) }
            if seen.isDisjoint(with: marks) { batch.append(waiting) } else { later.append(waiting) }
            seen.formUnion(marks)
        }
        waiting = later
        return batch.isEmpty ? nil : batch
    }

    private nonisolated func keep(_ batch: [Arrival]) -> [Result<String, any Error>] {
        // A request with the same Idempotency-Key may have come between the check of this one and now.
        var results = batch.map { arrival in Result { try depot.index.check(arrival.request) }.map { "" } }
        let sound = batch.indices.filter { (try? results[$0].get()) != nil }
        do {
            let pushed = try depot.queue.captures.keep(sound.map { batch[$0].bundle })
            for (place, result) in zip(sound, pushed) { results[place] = result.map(\.id) }
            let kept = sound.compactMap { place in (try? results[place].get()).map { (id: $0, arrival: batch[place]) } }
            try depot.index.write(kept.map { $0.arrival.row($0.id) }, kept.map(\.arrival.request))
        } catch {
            for place in sound { results[place] = .failure(error) }
        }
        return results
    }
}

extension Result where Failure == any Error {
    /// The failure, if another process kept its lock for too long.
    fileprivate var lockTaken: (any Error)? {
        guard case .failure(let error) = self else { return nil }
        return (error as? QueueError)?.code == .busy || (error as? IndexFault)?.isBusy ?? false ? error : nil
    }
}
