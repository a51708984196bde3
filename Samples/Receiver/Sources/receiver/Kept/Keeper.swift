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
            do { try await threads.run { self.keep(batch) } } catch {
                for waiting in batch { waiting.continuation.resume(throwing: error) }
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
            let request = waiting.request
            var marks = [[request.device, request.bodySHA256.description]]
            if let key = request.idempotencyKey { marks.append([request.device, "key", key]) }
            if seen.isDisjoint(with: marks) { batch.append(waiting) } else { later.append(waiting) }
            seen.formUnion(marks)
        }
        waiting = later
        return batch.isEmpty ? nil : batch
    }

    private nonisolated func keep(_ batch: [Waiting]) {
        // A request with the same Idempotency-Key may have come between the check of this one and now.
        let checks = batch.map { waiting in Result { try index.check(waiting.request) } }
        let sound = zip(batch, checks).filter { (try? $1.get()) != nil }.map(\.0)
        var pushed = push(sound.map(\.arrival)).makeIterator()
        var results = checks.map { $0.flatMap { pushed.next() ?? .failure(APIError.internalError) } }
        let kept = zip(batch, results).compactMap { waiting, id in (try? id.get()).map { (waiting, $0) } }
        let rows = kept.map { waiting, id in
            let (device, manifest, report) = (
                waiting.arrival.device, waiting.arrival.manifest, waiting.arrival.bundle.report
            )
            return CaptureRow(id, device, manifest, report, verdict: report.verdict.word, at: UnixTime.now)
        }
        do { try index.write(rows, kept.map(\.0.request)) } catch {
            results = results.map { $0.flatMap { _ in .failure(error) } }
        }
        for (waiting, result) in zip(batch, results) { waiting.continuation.resume(with: result) }
    }

    /// Adds bundles to the queue together, for all its destinations.
    ///
    /// - Returns: An id or an error for each, in order.
    private nonisolated func push(_ arrivals: [Arrival]) -> [Result<String, any Error>] {
        guard !arrivals.isEmpty else { return [] }
        do {
            let names = try queue.namesOfDestinations()
            return try queue.captures.keep(arrivals.map(\.bundle), destinations: names).map { $0.map(\.id) }
        } catch {
            return arrivals.map { _ in .failure(error) }
        }
    }
}

extension UploadQueue {
    /// The destinations to which new captures go.
    func namesOfDestinations() throws -> [String] { try destinations.list().filter { !$0.isRetired }.map(\.name) }
}
