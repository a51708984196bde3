/// The form of an upload body: its parts, their headers, and the parts that are not copied from the bundle.
package protocol BodyForm: Sendable {
    /// The bytes at the beginning of every boundary.
    var boundaryPrefix: [UInt8] { get }

    /// Makes the parts that are not copied from the bundle. They come first in the body.
    ///
    /// - Throws: An error if no body of this form can be made from the bundle.
    func made(from facts: BodyFacts) throws(BundleError) -> [(header: [UInt8], data: [UInt8])]

    /// The header of the part that holds an entry; nil if this form leaves the entry out.
    func header(of entry: ManifestEntry) -> [UInt8]?

    /// Warnings about a body that servers may refuse.
    func remarks(_ facts: BodyFacts, bodyBytes: Int) -> [String]
}

/// The facts about a bundle from which a form makes a body: the manifest, the assertion and the metadata.
package struct BodyFacts {
    let manifest: Manifest
    let manifestBytes: [UInt8]
    let assertion: [UInt8]
    let deviceModel: String
    let position: GeoPosition?
}

/// The form of Spec/upload.md section 1, from which the bundle can be restored (profile `capture`).
struct CaptureForm: BodyForm {
    var boundaryPrefix: [UInt8] { MultipartBoundary.prefix }

    func made(from facts: BodyFacts) -> [(header: [UInt8], data: [UInt8])] {
        let metadata = UploadMetadata.encode(
            manifest: facts.manifest, deviceModel: facts.deviceModel, position: facts.position,
            assertion: facts.assertion)
        return [
            (BodyPart.metadata.header, metadata), (BodyPart.manifest.header, facts.manifestBytes),
            (BodyPart.assertion.header, facts.assertion),
        ]
    }

    func header(of entry: ManifestEntry) -> [UInt8]? { BodyPart(entry).header }

    func remarks(_ facts: BodyFacts, bodyBytes: Int) -> [String] {
        Self.remarks(facts.manifest, bodyBytes: bodyBytes)
    }

    static func remarks(_ manifest: Manifest, bodyBytes: Int) -> [String] {
        var remarks: [String] = []
        if bodyBytes > UploadAdvice.bodyBytes {
            remarks.append("has \(bodyBytes) bytes; servers refuse more than \(UploadAdvice.bodyBytes)")
        }
        for (path, part) in [(EntryPath.depth, "depth_map"), (.photo, "photo")] where manifest.entry(path) == nil {
            remarks.append("has no part \(part), which servers require")
        }
        return remarks
    }
}
