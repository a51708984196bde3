import CaptureNative
import SystemPackage

/// Gives captures the next links of the key's chain, and signs and writes their bundles (Spec/capture-bundle.md section
/// 9.3). No signature is made before its link is on the disk, so a crash can lose a link but never give it out twice.
struct ChainPacking {
    /// A capture that needs only its link and its signature.
    struct Capture: Sendable {
        let plan: BundlePlan
        let place: OutputPlace
    }

    /// The results for a group of captures.
    struct Outcome {
        /// One for each capture, in order. If the run stops at a failure, it is the last one.
        var results: [Result<Packer.Packed, BundleError>]
        /// The error of the key's state after the bundles were written.
        var failure: BundleError?
    }

    let key: DeviceKeyFile
    let device: DeviceKey

    /// Packs one capture.
    ///
    /// - Parameter onRemark: Receives remarks about the links of earlier runs.
    func pack(
        _ plan: BundlePlan, to place: OutputPlace, body places: Packer.BodyPlaces?, onRemark: (Remark) -> Void
    ) throws(BundleError) -> Packer.Packed {
        guard let path = place.path else {
            return try packToStandardOutput(plan, body: places, onRemark: onRemark)
        }
        let folder = try native({ .writing(path, $0) }) { () throws(NativeError) in try FolderHandle(path.folder) }
        var made: BundlePlan.MadeBody?
        let outcome = try pack([Capture(plan: plan, place: place)], in: folder, onRemark: onRemark) {
            plan, assertion throws(BundleError) in
            made = try plan.makeBody(assertion: assertion, places)
        }
        if let failure = outcome.failure { throw failure }
        guard var packed = try outcome.results.first?.get() else {
            throw BundleError(.internalFailure, "a capture has no result")
        }
        try made?.commit()
        packed.body = made?.body
        return packed
    }

    /// Packs a group of captures into one folder.
    ///
    /// - Parameter makeBody: Receives each linked plan and its assertion before the signature is in any file with a
    ///   name. If it throws, the link is not given out. It is for groups of one capture.
    func pack(
        _ captures: [Capture], in folder: FolderHandle, stopsAtFailure: Bool = false, onRemark: (Remark) -> Void,
        makeBody: (BundlePlan, [UInt8]) throws(BundleError) -> Void = { _, _ in }
    ) throws(BundleError) -> Outcome {
        try key.withChain(of: device) { state throws(BundleError) in
            let before = state
            let found = try settle(&state, for: captures, onRemark)
            var group = LinkedGroup(device, in: folder)
            for (index, capture) in captures.enumerated() {
                if let (pending, assertion) = found.finished[index] {
                    let plan = try capture.plan.linked(pending.link)
                    try makeBody(plan, assertion)
                    group.add(try plan.packed(counter: pending.counter, assertion: assertion.count, body: nil))
                    continue
                }
                let reused = index == 0 ? found.reusable : nil
                let isWritten = try group.write(capture, &state, reusing: reused, of: key)
                if !isWritten && stopsAtFailure { break }
            }
            try group.publishHidden(&state)
            if let reusable = found.reusable {
                if group.isEmpty {
                    // The link stays pending, so that the same capture can take it at the next try.
                    state.chain.last = reusable.before
                    state.chain.pending = [reusable]
                } else if !group.takesLinkAgain {
                    onRemark(PendingSettlement.gap(reusable))
                }
            }
            guard !group.isEmpty else {
                if state != before { try key.save(state) }
                return Outcome(results: group.results)
            }
            try record(state, insteadOf: before)
            do throws(BundleError) {
                try group.sign(makeBody)
            } catch {
                // The signature is in no file that stays, so the links were not given out. The counters were used.
                var withdrawn = before
                withdrawn.counter = state.counter
                try? key.save(withdrawn)
                throw error
            }
            group.publish()
            group.close(&state)
            do throws(BundleError) {
                try key.save(state)
            } catch {
                return Outcome(results: group.results, failure: error)
            }
            return Outcome(results: group.results)
        }
    }

    private func settle(
        _ state: inout DeviceKeyState, for captures: [Capture], _ onRemark: (Remark) -> Void
    ) throws(BundleError) -> PendingSettlement.Found {
        var settlement = PendingSettlement(device)
        defer { settlement.remarks.forEach(onRemark) }
        return try settlement.settle(&state, for: captures)
    }

    /// Saves the state with the pending links. If that fails, nothing was signed and the links were not given out.
    private func record(_ state: DeviceKeyState, insteadOf before: DeviceKeyState) throws(BundleError) {
        do {
            try key.save(state)
        } catch {
            try? key.save(before)
            throw error
        }
    }

    private func packToStandardOutput(
        _ plan: BundlePlan, body places: Packer.BodyPlaces?, onRemark: (Remark) -> Void
    ) throws(BundleError) -> Packer.Packed {
        let (linked, pending) = try key.withChain(of: device) { state throws(BundleError) in
            let before = state
            let capture = Capture(plan: plan, place: .standardOutput)
            let found = try settle(&state, for: [capture], onRemark)
            let (link, counter) = try state.takeLink(reusing: found.reusable, of: key)
            let linked = try plan.linked(link)
            let pending = PendingLink(link, counter: counter, manifest: try Digest.of(linked.manifestBytes), files: nil)
            state.chain.pending = [pending]
            try record(state, insteadOf: before)
            return (linked, pending)
        }
        let target = try OutputTarget(.standardOutput)
        let packed = try linked.sign(device, counter: pending.counter, to: target, body: places)
        try key.finish(pending, for: device)
        return packed
    }
}
