import CaptureBundle
import CaptureNative
import Synchronization

/// Packs many captures into one chain (Spec/capture-bundle.md section 9.3): several threads prepare them, and this
/// thread signs and writes them in order.
extension PackingRun {
    /// The captures that are written together.
    private struct Group {
        /// The limits of a group: it is complete when it reaches one of them.
        static let captures = 32
        static let memory = 64 << 20

        var waiting: [Result<ChainPacking.Capture, BundleError>] = []
        let size: Int

        var isFull: Bool {
            let memory = waiting.reduce(0) { $0 + ((try? $1.get().plan.memory) ?? 0) }
            return waiting.count >= size || memory >= Self.memory
        }
    }

    func packChained(
        threads: Int?, stopsAtFailure: Bool, onRemark: (Remark) -> Void,
        deliver: (Item, Result<Packer.Packed, BundleError>) throws(BundleError) -> Void
    ) throws(BundleError) {
        let device = try packer.key.load(packer.passphrase)
        let secret = try packer.key.saltSecret(for: device)
        _ = try packer.key.nextLink(for: device)
        let made = try MadeFolder(folder)
        defer { made.removeIfEmpty() }
        let queue = Mutex(items.indices.makeIterator())
        let openFiles = ProcessLimits.raiseOpenFiles()
        let threads = max(1, min(threads ?? Thread.processors, openFiles / 8))
        var group = Group(size: max(1, min(Group.captures, openFiles / 4)))
        var delivered = 0
        let packing = ChainPacking(key: packer.key, device: device, places: items.map(\.output))
        /// Writes the waiting captures and delivers their results; false if the run must end here.
        func commit() throws(BundleError) -> Bool {
            defer { group.waiting = [] }
            let results = try packing.pack(
                group.waiting, in: made.handle, stopsAtFailure: stopsAtFailure, onRemark: onRemark)
            for result in results.results {
                try deliver(items[delivered], result)
                delivered += 1
            }
            if let failure = results.failure { throw failure }
            return !(stopsAtFailure && results.hasFailure)
        }
        try OrderedWork.run(
            threads: threads, window: threads + min(8, openFiles / 8), next: { queue.withLock { $0.next() } },
            work: { index in
                Self.result { () throws(BundleError) in
                    ChainPacking.Capture(plan: try plan(index, device, secret), place: items[index].output)
                }
            },
            deliver: { capture throws(BundleError) in
                group.waiting.append(capture)
                let isLast = if case .failure = capture { stopsAtFailure } else { false }
                return try group.isFull || isLast ? commit() : true
            })
        if !group.waiting.isEmpty { _ = try commit() }
    }
}

extension ChainPacking.Outcome {
    fileprivate var hasFailure: Bool { results.contains { if case .failure = $0 { true } else { false } } }
}

extension ChainPacking {
    /// Packs a group of which some captures could not be read.
    fileprivate func pack(
        _ captures: [Result<Capture, BundleError>], in folder: FolderHandle, stopsAtFailure: Bool,
        onRemark: (Remark) -> Void
    ) throws(BundleError) -> Outcome {
        let sound = captures.compactMap { try? $0.get() }
        var outcome =
            try sound.isEmpty
            ? Outcome(results: []) : pack(sound, in: folder, stopsAtFailure: stopsAtFailure, onRemark: onRemark)
        var packed = outcome.results[...]
        outcome.results = []
        for capture in captures {
            if case .failure(let error) = capture {
                outcome.results.append(.failure(error))
            } else if let result = packed.popFirst() {
                outcome.results.append(result)
            } else {
                break
            }
        }
        return outcome
    }
}
