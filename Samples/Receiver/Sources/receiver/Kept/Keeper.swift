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
    }

    private struct Waiting: Sendable {
        let arrival: Arrival
        let request: CaptureRequest
        let continuation: CheckedContinuation<String, any Error>
    }

    private let queue: UploadQueue
    private let index: CaptureIndex
    private let threads: BlockingThreads
    private var waiting: [Waiting] = []
    private var isWorking = false

    init(_ queue: UploadQueue, _ index: CaptureIndex, _ threads: BlockingThreads) {
        self.queue = queue
        self.index = index
        self.threads = threads
    }

    /// Restores the bundle of a body and verifies it, while the body arrives.
    nonisolated func receive(
        _ pieces: some AsyncSequence<[UInt8], any Error> & Sendable, byteCount: Int?, _ receiver: BundleReceiver,
        accept: @escaping @Sendable (Digest) throws -> Void
    ) async throws -> ReceivedBundle {
        let names = try await threads.run { try self.queue.namesOfDestinations() }
        return try await queue.captures.receive(
            pieces, byteCount: byteCount, receiver, destinations: names, accept: accept)
    }

    /// Keeps a capture. The identical capture again is not a second one. If its bytes were lost or damaged here, they are
    /// stored again.
    ///
    /// - Returns: Its id, once the queue and the index have it on the disk.
    func keep(_ arrival: Arrival, for request: CaptureRequest) async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            waiting.append(Waiting(arrival: arrival, request: request, continuation: continuation))
            guard !isWorking else { return }
            isWorking = true
            Task { await work() }
        }
    }

    private func work() async {
        while let batch = nextBatch() {
            let results: [Result<String, any Error>]
            do { results = try await threads.run { self.keep(batch) } } catch {
                results = batch.map { _ in .failure(error) }
            }
            for (waiting, result) in zip(batch, results) { waiting.continuation.resume(with: result) }
        }
        isWorking = false
    }

    /// Takes the waiting captures. Of requests with the same body or the same key, only the first is taken.
    private func nextBatch() -> [Waiting]? {
        var seen: Set<[String]> = []
        var batch: [Waiting] = []
        var later: [Waiting] = []
        for waiting in waiting {
            let request = waiting.request
            var marks = [[request.device, request.bodySHA256.description]]
            if let key = request.idempotencyKey { marks.append([request.device, "key", key]) }
            if seen.isDisjoint(with: marks) { batch.append(waiting) } else { later.append(waiting) }
            seen.formUnion(marks)
        }
        waiting = later
        return batch.isEmpty ? nil : batch
    }

    private nonisolated func keep(_ batch: [Waiting]) -> [Result<String, any Error>] {
        // A request with the same Idempotency-Key may have come between the check of this one and now.
        let checks = batch.map { waiting in Result { try index.check(waiting.request) } }
        let sound = zip(batch, checks).filter { (try? $1.get()) != nil }.map(\.0)
        var pushed: [Result<Pushed, any Error>]
        do {
            pushed = try queue.captures.keep(sound.map(\.arrival.bundle))
            let kept = zip(sound, pushed).compactMap { waiting, result in (try? result.get()).map { (waiting, $0.id) } }
            try index.write(kept.map { Self.row($1, $0.arrival) }, kept.map(\.0.request))
        } catch {
            pushed = sound.map { _ in .failure(error) }
        }
        var results = pushed.makeIterator()
        return checks.map { $0.flatMap { results.next()?.map(\.id) ?? .failure(APIError.internalError) } }
    }

    private static func row(_ id: String, _ arrival: Arrival) -> CaptureRow {
        let report = arrival.bundle.report
        return CaptureRow(
            id, arrival.device, arrival.manifest, report, verdict: report.verdict.word, at: UnixTime.now)
    }
}

extension UploadQueue {
    /// The destinations to which new captures go.
    func namesOfDestinations() throws -> [String] { try destinations.list().filter { !$0.isRetired }.map(\.name) }
}
