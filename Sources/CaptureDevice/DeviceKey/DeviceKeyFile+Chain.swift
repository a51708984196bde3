import CaptureBundle
import CaptureNative
import SystemPackage

/// The state of a key that gives out links of a chain (Spec/capture-bundle.md section 9.3).
extension DeviceKeyFile {
    /// Calls `body` with the state while the key is locked. `body` saves the state.
    ///
    /// - Throws: `key.state` if the key cannot give out links.
    func withChain<Value>(
        of device: DeviceKey, _ body: (inout DeviceKeyState) throws -> Value
    ) throws(BundleError) -> Value {
        try locked {
            try refuseSecondName()
            var state = try readState(of: device.point.keyID)
            _ = try chainEnd(state)
            return try body(&state)
        }
    }

    /// The end of the chain, after which the next capture would get its link now. Nothing is reserved.
    ///
    /// - Throws: `key.state` if the key cannot give out links.
    func chainEnd(for device: DeviceKey) throws(BundleError) -> ChainRecord.End {
        try chainEnd(readState(of: device.point.keyID))
    }

    /// Takes the next link and its counter. The caller adds the pending link.
    ///
    /// - Parameter counter: The counter that an earlier run took for this link; nil takes the next one.
    /// - Throws: `key.counter` if no link or no counter is left.
    func takeLink(
        _ state: inout DeviceKeyState, reusing counter: UInt32? = nil
    ) throws(BundleError) -> (link: Manifest.ChainLink, counter: UInt32) {
        let next = try link(after: chainEnd(state))
        if let counter { return (next, counter) }
        return (next, try advance(&state, by: 1))
    }

    /// The link that follows another one.
    func link(after end: ChainRecord.End) throws(BundleError) -> Manifest.ChainLink {
        guard let next = end.next else {
            throw BundleError(
                .keyCounterUsedUp, "the key's chain is at link \(end.seq), the highest one, so no link is left",
                file: statePath)
        }
        return next
    }

    /// Removes the line of a pending link whose bundle is complete, unless another run has removed it already.
    func finish(_ pending: PendingLink, for device: DeviceKey) throws(BundleError) {
        try locked {
            var state = try readState(of: device.point.keyID)
            guard state.chain.pending == [pending] else { return }
            state.chain.last = pending.end
            state.chain.pending = []
            try save(state)
        }
    }

    /// The remark about bundles without a link; nil if the key has not begun a chain.
    ///
    /// - Throws: The errors of reading the state.
    func unlinkedRemark(for device: DeviceKey) throws(BundleError) -> Remark? {
        guard let end = try readState(of: device.point.keyID).chain.end, end.seq > 0 else { return nil }
        return Remark(
            weight: .note, code: "chain.unlinked", file: path.string,
            message: "this key makes a chain; this bundle has no link, since --chain is missing")
    }

    private func chainEnd(_ state: DeviceKeyState) throws(BundleError) -> ChainRecord.End {
        try refuseRealityCam(state)
        guard let end = state.chain.end else {
            throw BundleError(
                .keyState, "the last link of the key's chain is lost", file: statePath,
                cause: .linkLost, values: [path.string])
        }
        return end
    }
}
