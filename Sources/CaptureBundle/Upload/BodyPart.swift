/// A part of an upload body and its header (Spec/upload.md section 1).
package enum BodyPart: Hashable, Sendable {
    case metadata, manifest, assertion
    case entry(path: EntryPath, mediaType: String)

    package init(_ entry: ManifestEntry) { self = .entry(path: entry.path, mediaType: entry.mediaType) }

    var name: String {
        switch self {
        case .metadata: "metadata"
        case .manifest: "manifest"
        case .assertion: "assertion.cbor"
        case .entry(.depth, _): "depth_map"
        case .entry(.photo, _): "photo"
        case .entry(let path, _): path.description
        }
    }

    private var filename: String? {
        switch self {
        case .metadata: nil
        case .manifest: "manifest.json"
        case .assertion: "assertion.cbor"
        case .entry(.depth, _): "depth.gz"
        case .entry(.photo, _): "capture.jpg"
        case .entry(let path, _): path.description.pieces(by: "/").last
        }
    }

    private var type: String {
        switch self {
        case .metadata: "application/json"
        case .manifest: SigningInput.manifestType
        case .assertion: "application/cbor"
        case .entry(_, let mediaType): mediaType
        }
    }

    /// The bytes between the line of the delimiter and the data.
    var header: [UInt8] { Self.header(name: name, filename: filename, type: type) }

    static func header(name: String, filename: String?, type: String) -> [UInt8] {
        let file = filename.map { "; filename=\"\($0)\"" } ?? ""
        return Array(
            "Content-Disposition: form-data; name=\"\(name)\"\(file)\r\nContent-Type: \(type)\r\n\r\n".utf8)
    }
}
