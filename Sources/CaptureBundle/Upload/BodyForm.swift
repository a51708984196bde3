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

/// The facts about a bundle that its body depends on.
package struct BodyFacts: Sendable {
    let manifest: Manifest
    let manifestBytes: [UInt8]
    let assertion: [UInt8]
    let deviceModel: String
    let position: GeoPosition?
    /// The entries that the bundle has.
    let entries: [ManifestEntry]
    /// The contents of metadata.json and location.json, if they were read from a bundle.
    private(set) var unsigned: [EntryPath: [UInt8]] = [:]

    /// The facts about a whole bundle that is being made.
    package init(
        _ manifest: Manifest, _ manifestBytes: [UInt8], assertion: [UInt8], deviceModel: String, position: GeoPosition?
    ) {
        (self.manifest, self.manifestBytes, self.assertion) = (manifest, manifestBytes, assertion)
        (self.deviceModel, self.position, entries) = (deviceModel, position, manifest.entries)
    }

    /// Reads the head of a bundle and the two entries that the metadata part needs. No signature is verified.
    init(_ source: BundleSource) throws(BundleError) {
        let reader = BundleReader(source)
        let head = try reader.readHead()
        (manifestBytes, assertion) = (head.manifest, head.assertion)
        manifest = try Manifest.decode(manifestBytes)
        var entries: [ManifestEntry] = []
        while let entry = try reader.nextEntry(of: manifest) {
            entries.append(entry)
            if [.metadata, .location].contains(entry.path), entry.size <= BundleLimits.metadataBytes {
                let bytes = try reader.readDataWhole()
                guard try Digest.of(bytes) == entry.sha256 else { throw PayloadContent.changed(source.name) }
                unsigned[entry.path] = bytes
            } else if !reader.skipData() {
                throw BundleError(.containerTruncated, "ends inside an entry's data", entry: entry.path.description)
            }
        }
        self.entries = entries
        guard let json = unsigned[.metadata],
            let root = try? JSONParser.parse(json, nesting: BundleLimits.metadataNesting, keeping: 2),
            let metadata = try? CaptureMetadata(root)
        else { throw PayloadContent.changed(source.name) }
        deviceModel = metadata.deviceModel
        position = unsigned[.location].flatMap { try? GeoPosition.decode($0) }
        guard (position == nil) == (unsigned[.location] == nil) else { throw PayloadContent.changed(source.name) }
    }

    var withheldRemarks: [String] {
        [(EntryPath.depth, "depth_map"), (.photo, "photo")]
            .filter { path, _ in manifest.entry(path) != nil && !entries.contains { $0.path == path } }
            .map { "has no part \($0.1), because \($0.0) is withheld; servers require this part" }
    }
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
        let limit = UploadAdvice.bodyBytes
        let size = bodyBytes > limit ? ["has \(bodyBytes) bytes; servers refuse more than \(limit)"] : []
        let missing = [(EntryPath.depth, "depth_map"), (.photo, "photo")].filter { facts.manifest.entry($0.0) == nil }
            .map { "has no part \($0.1), which servers require" }
        return size + missing + BodyLayout.remarks(on: facts.entries)
    }
}

extension BodyLayout {
    /// Warnings about the parts of a body with these entries.
    package static func remarks(on entries: [ManifestEntry]) -> [String] {
        let (parts, empty) = (entries.count + 3, entries.first { $0.size == 0 })
        return (parts > 40 ? ["has \(parts) parts; some servers take only 50, 64 or 100"] : [])
            + (empty.map { ["has the empty part \($0.path), at which some servers fail"] } ?? [])
    }
}

/// A part of an upload body and its header (Spec/upload.md section 1).
enum BodyPart {
    case metadata, manifest, assertion
    case entry(path: EntryPath, mediaType: String)

    init(_ entry: ManifestEntry) { self = .entry(path: entry.path, mediaType: entry.mediaType) }

    private var form: (name: String, filename: String?, type: String) {
        switch self {
        case .metadata: ("metadata", nil, "application/json")
        case .manifest: ("manifest", "manifest.json", SigningInput.manifestType)
        case .assertion: ("assertion.cbor", "assertion.cbor", "application/cbor")
        case .entry(.depth, let type): ("depth_map", "depth.gz", type)
        case .entry(.photo, let type): ("photo", "capture.jpg", type)
        case .entry(let path, let type): (path.description, path.description.pieces(by: "/").last, type)
        }
    }

    var name: String { form.name }

    /// The bytes between the line of the delimiter and the data.
    var header: [UInt8] { Self.header(name: form.name, filename: form.filename, type: form.type) }

    static func header(name: String, filename: String?, type: String) -> [UInt8] {
        let file = filename.map { "; filename=\"\($0)\"" } ?? ""
        return Array(
            "Content-Disposition: form-data; name=\"\(name)\"\(file)\r\nContent-Type: \(type)\r\n\r\n".utf8)
    }
}
