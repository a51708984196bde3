import CaptureBundle
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

    let key: DeviceKeyFile
    let device: DeviceKey
    /// All places to which the run writes bundles.
    let places: [OutputPlace]

    /// Packs one capture.
    ///
    /// - Parameter onRemark: Receives remarks about the links of earlier runs.
    func pack(
        _ plan: BundlePlan, to place: OutputPlace, body: Packer.BodyPlaces?, onRemark: (Remark) -> Void
    ) throws -> Packer.Packed {
        guard let path = place.path else {
            return try packToStandardOutput(plan, body: body, onRemark: onRemark)
        }
        let folder = try native({ .writing(path, $0) }) { try FolderHandle(path.folder) }
        var made: BundlePlan.MadeBody?
        let outcome = try pack([Capture(plan: plan, place: place)], in: folder, onRemark: onRemark) {
            plan, assertion in
            made = try plan.makeBody(assertion: assertion, body)
        }
        if let failure = outcome.failure { throw failure }
        guard var packed = try outcome.results.first?.get() else {
            throw BundleError(.internalFailure, "a capture has no result")
        }
        try made?.commit(isAgain: packed.wasPackedBefore)
        packed.body = made?.body
        return packed
    }

    /// Packs a group of captures into one folder. The failure of its outcome is that of the key's state after the bundles
    /// were written.
    ///
    /// - Parameter makeBody: Receives each linked plan and its assertion before a new signature is in any file with a
    ///   name. If it throws, no link is given out. It is for groups of one capture.
    func pack(
        _ captures: [Capture], in folder: FolderHandle, stopsAtFailure: Bool = false, onRemark: (Remark) -> Void,
        makeBody: (BundlePlan, [UInt8]) throws -> Void = { _, _ in }
    ) throws -> CaptureGroups.Outcome {
        try key.withChain(of: device) { state in
            let before = state
            try settle(&state, onRemark)
            var group = LinkedGroup(device, in: folder)
            for capture in captures {
                let isPacked = try group.add(capture, to: &state, of: key, makeBody)
                if !isPacked && stopsAtFailure { break }
            }
            try group.publishHidden(&state)
            guard !group.isEmpty else {
                if state != before { try key.save(state) }
                return CaptureGroups.Outcome(results: group.results)
            }
            try record(state, insteadOf: before)
            do {
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
                return CaptureGroups.Outcome(results: group.results, failure: error)
            }
            return CaptureGroups.Outcome(results: group.results)
        }
    }

    private func settle(_ state: inout DeviceKeyState, _ onRemark: (Remark) -> Void) throws {
        var settlement = PendingSettlement(device: device, places: places)
        defer { settlement.remarks.forEach(onRemark) }
        try settlement.settle(&state)
    }

    /// Saves the state with the pending links. If that fails, nothing was signed and the links were not given out.
    private func record(_ state: DeviceKeyState, insteadOf before: DeviceKeyState) throws {
        do {
            try key.save(state)
        } catch {
            try? key.save(before)
            throw error
        }
    }

    private func packToStandardOutput(
        _ plan: BundlePlan, body: Packer.BodyPlaces?, onRemark: (Remark) -> Void
    ) throws -> Packer.Packed {
        let target = try OutputTarget(.standardOutput)
        let (linked, pending) = try key.withChain(of: device) { state in
            let before = state
            let again = try unfinished(plan, state)
            if again != nil { state.chain.pending.removeLast() }
            try settle(&state, onRemark)
            let (link, counter) = try key.reserveLink(&state, reusing: again?.counter)
            let linked = try plan.linked(link)
            let pending = PendingLink(link, counter: counter, manifest: try Digest.of(linked.manifestBytes), files: nil)
            state.chain.pending = [pending]
            try record(state, insteadOf: before)
            return (linked, pending)
        }
        let packed = try linked.sign(device, counter: pending.counter, to: target, body: body)
        try key.finish(pending, for: device)
        return packed
    }

    /// The last pending link, if it went to standard output and the capture would get the same manifest with it. Then the
    /// capture is that of the link, and takes it again.
    private func unfinished(_ plan: BundlePlan, _ state: DeviceKeyState) throws -> PendingLink? {
        guard let last = state.chain.pending.last, last.files == nil,
            try Digest.of(plan.linked(last.link).manifestBytes) == last.manifest
        else { return nil }
        return last
    }
}
