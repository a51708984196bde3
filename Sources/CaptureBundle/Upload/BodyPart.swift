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
