import CaptureNative
import SystemPackage

/// The bundles of a key's chain that are at output places already (Spec/capture-bundle.md section 9.3). None of them is
/// ever replaced, because its link would then be missing for ever.
struct ChainTargets {
    /// A capture whose bundle with its link exists.
    struct PackedCapture {
        /// The plan with its link.
        let plan: BundlePlan
        let counter: UInt32
        let assertion: [UInt8]

        /// - Parameter counter: nil for a dry run.
        func result(counter: UInt32?) throws(BundleError) -> Packer.Packed {
            var packed = try plan.packed(counter: counter, assertion: assertion.count, body: nil)
            packed.wasPackedBefore = true
            return packed
        }
    }

    /// nil if the state of the key cannot be read.
    let keyID: Digest?

    /// Refuses a place as `OutputPlace.examine` does, and a place whose file is a link of the chain.
    ///
    /// - Parameter mayBePacked: Whether a link is accepted, since the capture may be packed there already. Call `packed`
    ///   once the capture is read.
    /// - Throws: `output.exists`, `output.unusable`, `input.unreadable`.
    func examine(_ place: OutputPlace, mayBePacked: Bool = false) throws(BundleError) {
        guard let path = place.path else { return try place.examine() }
        var found = try head(at: path)
        if found == nil {
            do {
                return try place.examine()
            } catch {
                // Another run may have given its bundle this name after the first look.
                found = error.code == .outputExists ? try head(at: path) : nil
                if found == nil { throw error }
            }
        }
        guard let (link, _) = found, !mayBePacked else { return }
        throw Self.refusal(
            link, path, ", so it is not replaced",
            hints: ["choose another name; if this is the bundle of the same capture, use --chain instead"])
    }

    /// The bundle at a place, if it is that of the capture: it has the manifest that the capture gets with the link of
    /// the bundle, and it is whole and sound.
    ///
    /// - Returns: nil if no link of the chain is at the place.
    /// - Throws: `output.exists` if the bundle is another one, and the errors of reading it.
    func packed(_ plan: BundlePlan, at place: OutputPlace) throws(BundleError) -> PackedCapture? {
        guard let path = place.path, let (link, assertion) = try head(at: path) else { return nil }
        let linked = try plan.linked(link)
        let report = try Verifier.soundness.verify(BundleSource(file: path))
        guard try report.manifestSHA256 == Digest.of(linked.manifestBytes) else {
            throw Self.refusal(
                link, path,
                " but not the bundle that this command would make: the capture, the options or the salt differ",
                hints: [
                    "to see what it holds: capbundle show \(ShellWord.quote(path))",
                    "if this capture has no bundle yet, choose another name",
                ])
        }
        guard report.isSound, report.withheld.isEmpty, let counter = report.authenticatorData?.counter else {
            throw Self.refusal(
                link, path, " and the bundle of this capture, but damaged or not whole",
                hints: [
                    "to see what is wrong: capbundle verify \(ShellWord.quote(path))",
                    "replace it with a whole copy of the bundle, from a backup or a server",
                ])
        }
        return PackedCapture(plan: linked, counter: counter, assertion: assertion)
    }

    /// Whether a bundle with a link of the chain is at a path. The signature is not checked.
    ///
    /// - Throws: `input.unreadable` if a file is there that cannot be read, since it could be such a bundle.
    func hasLink(at path: FilePath) throws(BundleError) -> Bool { try head(at: path) != nil }

    private func head(at path: FilePath) throws(BundleError) -> (link: Manifest.ChainLink, assertion: [UInt8])? {
        guard let keyID, let handle = try Self.open(path) else { return nil }
        do throws(BundleError) {
            let head = try BundleReader(BundleSource(handle: handle, name: path.string)).readHead()
            let manifest = try Manifest.decode(head.manifest)
            guard manifest.device.keyID == keyID, let link = manifest.chain else { return nil }
            return (link, head.assertion)
        } catch {
            // It is not a bundle, or a damaged one.
            guard error.verdict == nil else { return nil }
            throw error
        }
    }

    private static func open(_ path: FilePath) throws(BundleError) -> FileHandle? {
        do {
            return try FileHandle.readingPlainFile(path)
        } catch {
            if error.isMissing { return nil }
            throw .reading(path, error)
        }
    }

    private static func refusal(
        _ link: Manifest.ChainLink, _ path: FilePath, _ reason: String, hints: [String]
    ) -> BundleError {
        BundleError(.outputExists, "is link \(link.seq) of this key's chain\(reason)", file: path, hints: hints)
    }
}
