import CaptureNative
import SystemPackage

/// Finishes the links that an earlier run left pending, or gives them up (Spec/capture-bundle.md section 9.3).
struct PendingSettlement {
    /// How the last pending link concerns the next capture.
    enum Fit {
        case none
        /// No bundle of the link was found, and the capture would get the same manifest with it.
        case reusable(PendingLink)
        /// The bundle of the link is the capture's bundle, and it is at the capture's target.
        case finished(PendingLink, assertion: [UInt8])

        var reusable: PendingLink? { if case .reusable(let pending) = self { pending } else { nil } }
    }

    /// The place of a link's bundle.
    private enum Found {
        case target(assertion: [UInt8])
        /// Another file has the name of the target.
        case temporary
        case nowhere
    }

    let device: DeviceKey
    private(set) var remarks: [Remark] = []

    init(_ device: DeviceKey) { self.device = device }

    /// Removes all pending links from the state, which the caller saves.
    ///
    /// - Parameter capture: The capture that gets the next link.
    mutating func settle(_ state: inout DeviceKeyState, for capture: ChainPacking.Capture?) throws(BundleError) -> Fit {
        var fit = Fit.none
        for pending in state.chain.pending {
            fit = try settle(pending, for: pending == state.chain.pending.last ? capture : nil)
        }
        if let last = state.chain.pending.last { state.chain.last = last.end }
        state.chain.pending = []
        return fit
    }

    private mutating func settle(_ pending: PendingLink, for capture: ChainPacking.Capture?) throws(BundleError) -> Fit
    {
        // The capture, if it would get the same manifest with this link.
        let same = try capture.flatMap { capture throws(BundleError) in
            try Digest.of(capture.plan.linked(pending.link).manifestBytes) == pending.manifest ? capture : nil
        }
        guard let files = pending.files else {
            if same != nil { return .reusable(pending) }
            remark(
                .warning, "chain.gap", "standard output",
                "link \(pending.link.seq) was given out, but its bundle was not written to the end; "
                    + "if nobody has the bundle, the chain has a gap there")
            return .none
        }
        let target = same.flatMap { $0.place.wholePath == files.target ? $0.place : nil }
        switch try finish(pending, files, replaces: target?.replaces ?? false) {
        case .target(let assertion): return target == nil ? .none : .finished(pending, assertion: assertion)
        case .temporary: return .none
        case .nowhere: if same != nil { return .reusable(pending) }
        }
        remark(
            .warning, "chain.gap", files.target.string,
            "link \(pending.link.seq) was given out, but its bundle is missing: the chain has a gap there")
        return .none
    }

    /// Gives the bundle of a link its name.
    ///
    /// - Parameter replaces: Whether it replaces another file of that name.
    private mutating func finish(
        _ pending: PendingLink, _ files: PendingLink.Files, replaces: Bool
    ) throws(BundleError) -> Found {
        let temporary = try PendingBundle(files.temporary, of: pending, device: device.point, canChange: true)
        let there = try PendingBundle(files.target, of: pending, device: device.point)
        guard let folder = try? FolderHandle(files.target.folder), let name = files.target.name,
            let hidden = files.temporary.name
        else { return .nowhere }
        do throws(NativeError) {
            if let assertion = there?.assertion {
                if temporary != nil { _ = try folder.removeFile(hidden) }
                try folder.synchronize()
                return .target(assertion: assertion)
            }
        } catch {
            throw .writing(files.target, error)
        }
        guard let temporary, temporary.isWhole else { return .nowhere }
        let assertion = try temporary.sign(device, counter: pending.counter)
        do throws(NativeError) {
            if replaces { try folder.rename(hidden, to: name) } else { try folder.move(hidden, to: folder, as: name) }
            try folder.synchronize()
        } catch {
            guard error.isExisting else { throw .writing(files.target, error) }
            remark(
                .warning, "chain.taken", files.target.string,
                "another file has this name; the bundle with link \(pending.link.seq) is in \(files.temporary)")
            return .temporary
        }
        remark(
            .note, "chain.finished", files.target.string,
            "finished the bundle with link \(pending.link.seq), which an interrupted run had left incomplete")
        return .target(assertion: assertion)
    }

    private mutating func remark(_ weight: Remark.Weight, _ code: String, _ file: String, _ message: String) {
        remarks.append(Remark(weight: weight, code: code, file: file, message: message))
    }
}

extension OutputPlace {
    fileprivate var replaces: Bool { if case .replacing = self { true } else { false } }
}
