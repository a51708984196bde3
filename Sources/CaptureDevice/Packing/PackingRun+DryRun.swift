import CaptureBundle
import CaptureNative
import Synchronization

extension PackingRun {
    /// Reads all captures and delivers what they would become. Nothing is signed or written. With a chain, each capture
    /// gets the link that it would get now.
    func tryOut(
        threads: Int?, stopsAtFailure: Bool, onRemark: (Remark) -> Void,
        deliver: (Item, Result<Packer.Packed, BundleError>) throws(BundleError) -> Void
    ) throws(BundleError) {
        let key = packer.key
        let device = try key.load(packer.passphrase)
        let secret = try key.saltSecret(for: device)
        let targets = try key.chainTargets()
        var link = packer.isChained ? try key.nextLink(for: device) : nil
        if link == nil, let remark = try key.unlinkedRemark(for: device) { onRemark(remark) }
        /// What the capture would become.
        func result(_ item: Item, _ plan: BundlePlan) throws(BundleError) -> Packer.Packed {
            guard let next = link else { return try plan.packed(counter: nil, assertion: 141, body: nil) }
            if let before = try targets.packed(plan, at: item.output) { return try before.result(counter: nil) }
            let linked = try plan.linked(next)
            let end = ChainRecord.End(seq: next.seq, manifest: try Digest.of(linked.manifestBytes))
            let packed = try linked.packed(counter: nil, assertion: 141, body: nil)
            link = try key.link(after: end)
            return packed
        }
        let queue = Mutex(items.indices.makeIterator())
        let threads = max(1, threads ?? Thread.processors)
        var done = 0
        try OrderedWork.run(
            threads: threads, window: threads + 8, next: { queue.withLock { $0.next() } },
            work: { index in Self.result { () throws(BundleError) in try plan(index, device, secret) } },
            deliver: { made throws(BundleError) in
                let item = items[done]
                done += 1
                let packed = Self.result { () throws(BundleError) in try result(item, made.get()) }
                try deliver(item, packed)
                if case .failure = packed { return !stopsAtFailure }
                return true
            })
    }
}
