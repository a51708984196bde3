import CaptureBundle
import CaptureNative
import Synchronization

/// Reads the captures of a run on several threads, and packs them in groups, since each wait for the disk takes longer
/// than packing.
struct CaptureGroups: Sendable {
    /// The results for a group of captures.
    struct Outcome {
        /// One for each capture, in order. If the run stops at a failure, later ones may be missing.
        let results: [Result<Packer.Packed, BundleError>]
        /// An error after the results, which ends the run.
        var failure: BundleError?
    }

    /// The limits of a group: it is complete when it reaches one of them.
    private static let captures = 32
    private static let memory = 64 << 20

    let items: [PackingRun.Item]
    let device: DevicePoint
    let secret: [UInt8]
    /// The number of captures that are read at the same time; nil means one for each processor.
    let threads: Int?
    let stopsAtFailure: Bool

    /// - Parameters:
    ///   - prepare: Receives each capture and its position. Several threads call it at the same time.
    ///   - memory: The bytes that a prepared capture needs in memory until it is packed; nil if they need not be limited.
    ///   - pack: Packs a group on this thread.
    ///   - deliver: Receives the result of each capture, in their order, on this thread.
    func run<Prepared: Sendable>(
        of size: Int = Self.captures,
        prepare: @escaping @Sendable (BundlePlan, Int) throws -> Prepared,
        memory: ((Prepared) -> Int)? = nil,
        pack: ([Prepared]) throws -> Outcome,
        deliver: (PackingRun.Item, Result<Packer.Packed, BundleError>) throws -> Void
    ) throws {
        let queue = Mutex(items.indices.makeIterator())
        // Each bundle that waits for its name is an open file.
        let openFiles = ProcessLimits.raiseOpenFiles()
        let threads = max(1, min(threads ?? Thread.processors, openFiles / 8))
        let size = max(1, min(size, openFiles / 4))
        var waiting: [Result<Prepared, BundleError>] = []
        var delivered = 0
        /// Packs the waiting captures and delivers their results; false if the run must end here.
        func packWaiting() throws -> Bool {
            defer { waiting = [] }
            let sound = waiting.compactMap { try? $0.get() }
            let outcome = sound.isEmpty ? Outcome(results: []) : try pack(sound)
            var packed = outcome.results[...]
            var mayContinue = true
            for prepared in waiting {
                let result: Result<Packer.Packed, BundleError>? =
                    if case .failure(let error) = prepared { mayContinue ? .failure(error) : nil } else {
                        packed.popFirst()
                    }
                guard let result else { break }
                try deliver(items[delivered], result)
                delivered += 1
                if case .failure = result, stopsAtFailure { mayContinue = false }
            }
            if let failure = outcome.failure { throw failure }
            return mayContinue
        }
        // The threads prepare the next group while one is written. Of captures that wait in memory they prepare 8.
        let ahead = memory == nil ? max(8, size) : 8
        try OrderedWork.run(
            threads: threads, window: threads + min(ahead, openFiles / 8), next: { queue.withLock { $0.next() } },
            work: { index in
                Result { () throws(BundleError) in
                    try native {
                        let capture = try items[index].reading.get()()
                        return try prepare(BundlePlan(capture, device: device, secret: secret), index)
                    }
                }
            },
            deliver: { prepared in
                waiting.append(prepared)
                let isLast = if case .failure = prepared { stopsAtFailure } else { false }
                let needed = memory.map { memory in waiting.reduce(0) { $0 + ((try? $1.get()).map(memory) ?? 0) } } ?? 0
                return try isLast || waiting.count >= size || needed >= Self.memory ? packWaiting() : true
            })
        if !waiting.isEmpty { _ = try packWaiting() }
    }
}
