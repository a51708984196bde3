import CaptureNative
import SystemPackage

/// Decides whether a bundle with a link may get the name of an output place. It never replaces a link of the same chain,
/// which would then be missing for ever (Spec/capture-bundle.md section 9.3).
struct ChainTargets {
    /// nil if the state of the key cannot be read.
    private let keyID: Digest?
    /// The targets of the links that an earlier run left pending.
    private var pending: Set<FilePath> = []

    init(keyID: Digest) { self.keyID = keyID }

    init(_ state: DeviceKeyState?) {
        keyID = state?.keyID
        if let links = state?.chain.pending { pending = Set(links.compactMap(\.files?.target)) }
    }

    /// Refuses a place as `OutputPlace.examine` does, and a place whose file is a link of the chain. The file of a pending
    /// link is accepted, since packing the same capture again finishes that link.
    ///
    /// - Throws: `output.exists`, `output.unusable`.
    func examine(_ place: OutputPlace) throws(BundleError) {
        guard let path = place.path else { return try place.examine() }
        if let target = place.wholePath, pending.contains(target), (try? FileStatus.of(path))?.kind == .file {
            return try OutputPlace.replacing(path).examine()
        }
        if let seq = link(at: path) {
            throw BundleError(
                .outputExists, "is link \(seq) of this key's chain, so it is not replaced", file: path,
                hints: ["choose another name"])
        }
        try place.examine()
    }

    /// The seq of a bundle of this key; nil for any other file. The signature is not checked.
    func link(at path: FilePath) -> Int? {
        guard let keyID, let handle = try? FileHandle.readingPlainFile(path),
            let head = try? UnverifiedHead(BundleSource(handle: handle, name: path.string)),
            head.manifest.device.keyID == keyID
        else { return nil }
        return head.manifest.chain?.seq
    }
}
