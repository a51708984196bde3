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
    /// - Throws: `output.exists`, `output.unusable`.
    func examine(_ place: OutputPlace, mayBePacked: Bool = false) throws(BundleError) {
        guard let path = place.path, let (link, _) = head(at: path) else { return try place.examine() }
        guard !mayBePacked else { return }
        throw Self.refusal(link, path, ", so it is not replaced", hints: ["choose another name"])
    }

    /// The bundle at a place, if it is that of the capture: it has the manifest that the capture gets with the link of
    /// the bundle, and it is whole and sound.
    ///
    /// - Returns: nil if no link of the chain is at the place.
    /// - Throws: `output.exists` if the bundle is another one, and the errors of reading it.
    func packed(_ plan: BundlePlan, at place: OutputPlace) throws(BundleError) -> PackedCapture? {
        guard let path = place.path, let (link, assertion) = head(at: path) else { return nil }
        let linked = try plan.linked(link)
        let report = try Verifier.soundness.verify(BundleSource(file: path))
        guard try report.manifestSHA256 == Digest.of(linked.manifestBytes) else {
            throw Self.refusal(
                link, path, " and the bundle of another capture, or of this one packed in another way",
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
                    "put a whole copy in its place",
                ])
        }
        return PackedCapture(plan: linked, counter: counter, assertion: assertion)
    }

    /// Whether a bundle with a link of the chain is at a path. The signature is not checked.
    func hasLink(at path: FilePath) -> Bool { head(at: path) != nil }

    private func head(at path: FilePath) -> (link: Manifest.ChainLink, assertion: [UInt8])? {
        guard let keyID, let handle = try? FileHandle.readingPlainFile(path),
            let head = try? BundleReader(BundleSource(handle: handle, name: path.string)).readHead(),
            let manifest = try? Manifest.decode(head.manifest), manifest.device.keyID == keyID,
            let link = manifest.chain
        else { return nil }
        return (link, head.assertion)
    }

    private static func refusal(
        _ link: Manifest.ChainLink, _ path: FilePath, _ reason: String, hints: [String]
    ) -> BundleError {
        BundleError(.outputExists, "is link \(link.seq) of this key's chain\(reason)", file: path, hints: hints)
    }
}
