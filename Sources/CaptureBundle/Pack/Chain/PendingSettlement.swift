import CaptureNative
import SystemPackage

/// Finishes the links that an earlier run left pending, or gives them up (Spec/capture-bundle.md section 9.3).
struct PendingSettlement {
    /// How the pending links concern the captures that are to be packed.
    struct Found {
        /// The captures whose bundles are at their targets, by their positions.
        var finished: [Int: (pending: PendingLink, assertion: [UInt8])] = [:]
        /// The last link, if no bundle of it was found, and the first capture would get the same manifest with it.
        var reusable: PendingLink?
    }

    /// The place of a link's bundle.
    private enum Place {
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
    /// - Parameter captures: The captures that get the next links.
    mutating func settle(
        _ state: inout DeviceKeyState, for captures: [ChainPacking.Capture]
    ) throws(BundleError) -> Found {
        var found = Found()
        guard let last = state.chain.pending.last else { return found }
        let targets = captures.map(\.place.wholePath)
        for pending in state.chain.pending {
            // The capture whose bundle this is.
            let index = try targets.firstIndex { $0 != nil && $0 == pending.files?.target }
                .flatMap { index throws(BundleError) in try captures[index].fits(pending) ? index : nil }
            switch try finish(pending, replaces: index.map { captures[$0].place.replaces } ?? false) {
            case .target(let assertion): if let index { found.finished[index] = (pending, assertion) }
            case .temporary: break
            case .nowhere:
                if let first = captures.first, pending == last, try first.fits(pending) {
                    found.reusable = pending
                } else {
                    remarks.append(Self.gap(pending))
                }
            }
        }
        state.chain.last = last.end
        state.chain.pending = []
        return found
    }

    /// Says that a link was given out and that its bundle is missing.
    static func gap(_ pending: PendingLink) -> Remark {
        let seq = pending.link.seq
        let (file, message) =
            if let files = pending.files {
                (
                    files.target.string,
                    "link \(seq) was given out, but its bundle is not at this path; "
                        + "if the bundle does not exist elsewhere either, the chain has a gap at link \(seq)"
                )
            } else {
                (
                    "standard output",
                    "link \(seq) was given out, and its bundle was not complete yet; "
                        + "if nobody has the bundle, the chain has a gap there"
                )
            }
        return Remark(weight: .warning, code: "chain.gap", file: file, message: message)
    }

    /// Gives the bundle of a link its name.
    ///
    /// - Parameter replaces: Whether it replaces another file of that name, if that is not a link of the chain.
    private mutating func finish(
        _ pending: PendingLink, replaces: Bool
    ) throws(BundleError) -> Place {
        guard let files = pending.files else { return .nowhere }
        let folder = try open(files.target.folder, of: pending)
        let temporary = try PendingBundle(files.temporary, of: pending, device: device.point, canChange: true)
        let there = try PendingBundle(files.target, of: pending, device: device.point)
        guard let name = files.target.name, let hidden = files.temporary.name else { return .nowhere }
        do throws(NativeError) {
            // A copy that is cut short or lacks entries, or a link to the temporary file, does not replace that file.
            let isPlain = try folder.status(of: name)?.kind == .file
            let isOwn = temporary == nil || (isPlain && there?.isWhole == true)
            if let assertion = there?.assertion, isOwn {
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
            if replaces && ChainTargets(keyID: device.point.keyID).link(at: files.target) == nil {
                try folder.rename(hidden, to: name)
            } else {
                try folder.move(hidden, to: folder, as: name)
            }
            try folder.synchronize()
        } catch {
            guard error.isExisting else { throw .writing(files.target, error) }
            remark(
                .warning, "chain.taken", files.target.string,
                "another file has this name; the bundle with link \(pending.link.seq) is complete in "
                    + "\(files.temporary): rename it to another name")
            return .temporary
        }
        remark(
            .note, "chain.finished", files.target.string,
            "finished the bundle with link \(pending.link.seq), which an interrupted run had left incomplete")
        return .target(assertion: assertion)
    }

    /// Opens the folder of a link's files. A missing folder does not give the link up, since its disk may not be mounted.
    private func open(_ folder: FilePath, of pending: PendingLink) throws(BundleError) -> FolderHandle {
        do {
            return try FolderHandle(folder)
        } catch {
            guard error.isMissing else { throw .writing(folder, error) }
            throw BundleError(
                .keyState, "the folder of link \(pending.link.seq) is missing", file: folder,
                hints: [
                    "bring it back, for example mount its disk, and pack again",
                    "if it is gone for good, make an empty folder there: mkdir -p \(ShellWord.quote(folder)); "
                        + "its links then count as lost",
                ])
        }
    }

    private mutating func remark(_ weight: Remark.Weight, _ code: String, _ file: String, _ message: String) {
        remarks.append(Remark(weight: weight, code: code, file: file, message: message))
    }
}

extension OutputPlace {
    fileprivate var replaces: Bool { if case .replacing = self { true } else { false } }
}

extension ChainPacking.Capture {
    /// Whether the capture would get the same manifest with this link.
    fileprivate func fits(_ pending: PendingLink) throws(BundleError) -> Bool {
        try Digest.of(plan.linked(pending.link).manifestBytes) == pending.manifest
    }
}
