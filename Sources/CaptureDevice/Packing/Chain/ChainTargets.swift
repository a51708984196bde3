public import CaptureBundle
import CaptureNative
import SystemPackage

/// The bundles of a key's chain that are at output places already (Spec/capture-bundle.md section 9.3). None of them is
/// ever replaced, because its link would then be missing for ever.
struct ChainTargets {
    /// nil if the key has not begun a chain, or its state cannot be read.
    private let keyID: Digest?

    init(_ state: DeviceKeyState?) { keyID = state?.chain.end == .start ? nil : state?.keyID }

    /// What is at the place of an output.
    private enum Found {
        /// A bundle with a link of the chain, whatever its signature says.
        case link(Manifest.ChainLink, assertion: [UInt8])
        /// A bundle whose signature says that it is not a link of the chain.
        case otherBundle
        /// A damaged bundle, which may have been a link.
        case damagedBundle
        /// No file, or one that does not begin like a bundle.
        case noBundle
    }

    /// Refuses a place as `OutputPlace.examine` does, and a place whose file is or may be a link of the chain.
    ///
    /// - Parameter isForLink: Whether a bundle with a link is to be written there. Then a link is accepted, since the
    ///   capture may be packed there already; call `packed` once the capture is read. Only a sound bundle is replaced
    ///   then: anything else may be what is left of a link, and its capture would get a second one.
    /// - Parameter mayExist: Whether another file that exists is judged later, by its bytes.
    /// - Throws: `output.exists`, `output.unusable`, `input.unreadable`.
    func examine(_ place: OutputPlace, isForLink: Bool = false, mayExist: Bool = false) throws(BundleError) {
        guard let path = place.path else { return try place.examine() }
        switch try find(at: path) {
        case .link where isForLink: return
        case .link(let link, _):
            throw Self.refusal(link, path, reason: ", so it is not replaced", cause: .isLink)
        case .damagedBundle:
            let message = "is a damaged bundle, which may be a link of this key's chain, so it is not replaced"
            throw BundleError(.outputExists, message, file: path, cause: .maybeDamagedLink)
        case .noBundle where isForLink && keyID != nil && FileStatus.exists(path):
            if (try? FileStatus.of(path))?.kind != .file { return try place.examine() }
            throw BundleError(
                .outputExists,
                "already exists, and is not a bundle; with --chain it is never replaced, since it may be the rest of a link",
                file: path, cause: .maybeLink)
        case .otherBundle, .noBundle: try place.examine(mayExist: mayExist)
        }
    }

    /// The bundle at a place, if it is that of the capture: it has the manifest that the capture gets with the link of
    /// the bundle, and it is whole and sound.
    ///
    /// - Returns: nil if no link of the chain is at the place.
    /// - Throws: `output.exists` if the bundle is another one, and the errors of reading it.
    func packed(_ plan: BundlePlan, at place: OutputPlace) throws(BundleError) -> PackedCapture? {
        guard let path = place.path, case .link(let link, let assertion) = try find(at: path) else { return nil }
        let linked = try plan.linked(link)
        let report = try Verifier.soundness.verify(BundleSource(file: path))
        guard try report.manifestSHA256 == Digest.of(linked.manifestBytes) else {
            throw Self.refusal(
                link, path,
                reason: " but not the bundle that this command would make: the capture, the options or the salt differ",
                cause: .linkOfOther)
        }
        guard report.isSound, report.withheld.isEmpty, let counter = report.authenticatorData?.counter else {
            throw Self.refusal(
                link, path, reason: " and the bundle of this capture, but damaged or not whole", cause: .damagedLink)
        }
        return PackedCapture(plan: linked, counter: counter, assertion: assertion)
    }

    /// Whether a bundle is at a path that its signature says not to be a link of the chain.
    ///
    /// - Throws: `input.unreadable` if a file is there that cannot be read, since it could be a link.
    func isOtherBundle(at path: FilePath) throws(BundleError) -> Bool {
        if case .otherBundle = try find(at: path) { true } else { false }
    }

    private func find(at path: FilePath) throws(BundleError) -> Found {
        guard let keyID,
            let handle = try native(
                { .reading(path, $0) }, { try allowing(\.isMissing) { try FileHandle.readingPlainFile(path) } })
        else { return .noBundle }
        do throws(BundleError) {
            let head = try BundleReader(BundleSource(handle: handle, name: path.string)).readHead()
            let manifest = try Manifest.decode(head.manifest)
            if manifest.device.keyID == keyID, let link = manifest.chain {
                return .link(link, assertion: head.assertion)
            }
            let assertion = try Assertion(decoding: head.assertion)
            return try assertion.isValid(for: head.manifest, of: manifest.device) ? .otherBundle : .damagedBundle
        } catch {
            guard error.verdict != nil else { throw error }
            return try Self.beginsLikeABundle(handle, path) ? .damagedBundle : .noBundle
        }
    }

    /// Whether one of the first entries has the name or the content that it has in every bundle.
    private static func beginsLikeABundle(_ handle: FileHandle, _ path: FilePath) throws(BundleError) -> Bool {
        var start = [UInt8](repeating: 0, count: 2 * FileKind.length)
        let count = try native({ .reading(path, $0) }) {
            try handle.seekToStart()
            return try handle.read(into: &start)
        }
        let bytes = start[..<count]
        return bytes.starts(with: "mimetype\0".utf8) || FileKind(Array(bytes))?.family == .bundle
            || bytes.dropFirst(FileKind.length).starts(with: "manifest.json\0".utf8)
    }

    private static func refusal(
        _ link: Manifest.ChainLink, _ path: FilePath, reason: String, cause: BundleError.Cause
    ) -> BundleError {
        BundleError(.outputExists, "is link \(link.seq) of this key's chain\(reason)", file: path, cause: cause)
    }
}

extension BundleError.Cause {
    /// The file at an output place is a link, that of another capture, or that of the capture but damaged.
    public static let isLink = Self("chain.link")
    public static let linkOfOther = Self("chain.link.other")
    public static let damagedLink = Self("chain.link.damaged")
    /// The file at an output place may be a link: it is a damaged bundle, or no bundle at all.
    public static let maybeDamagedLink = Self("chain.unknown.bundle")
    public static let maybeLink = Self("chain.unknown")
    /// The link, which is the value, is given out, and its bundle is not complete.
    public static let linkPending = Self("chain.pending")
    /// Another file has the name of a complete bundle, since this run, or since an earlier one.
    public static let linkNameTaken = Self("chain.name")
    public static let pendingNameTaken = Self("chain.pending.name")
    public static let pendingFolderMissing = Self("chain.pending.folder")
    /// A link has two bundles.
    public static let linkTwice = Self("chain.twice")
}
