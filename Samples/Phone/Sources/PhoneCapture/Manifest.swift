import Foundation

/// An entry of the payload (Spec/capture-bundle.md section 4.3).
struct BundleEntry: Sendable {
    enum Role: String {
        case depth = "depth.f32.gz", location = "location.json", metadata = "metadata.json", photo = "photo.jpg"
    }

    let role: Role
    let bytes: Data
    let sha256: Data

    init(_ role: Role, _ bytes: Data) throws {
        guard bytes.count < 1 << 33 else { throw CaptureError("\(role.rawValue) has 8 GiB or more") }
        (self.role, self.bytes, sha256) = (role, bytes, Hash.sha256(bytes))
    }

    var path: String { role.rawValue }

    var mediaType: String {
        role == .depth ? "application/gzip" : role == .photo ? "image/jpeg" : "application/json"
    }

    var json: JSONValue {
        let members: JSONValue.Members = [
            ("media_type", .string(mediaType)), ("path", .string(path)), ("role", .string("\(role)")),
            ("sha256", .string(Hash.hex(sha256))), ("size", .integer(bytes.count)),
        ]
        return .object(role == .location ? members + [("withholdable", .bool(true))] : members)
    }
}

/// What is signed: manifest.json (Spec/capture-bundle.md section 4).
struct Manifest: Sendable {
    static let mediaType = "application/vnd.capture-bundle.manifest+json;version=1"
    let id: String
    let bytes: Data

    /// - Parameter entries: In the order of their paths.
    init(capturedAt: CaptureTime, publicKey: Data, entries: [BundleEntry], depth: DepthMap?) throws {
        let floats = depth.map { Hash.hex(Hash.sha256($0.floats)) }
        let hashes = entries.map { ($0.role == .depth ? floats : nil) ?? Hash.hex($0.sha256) }
        let head = ["capture-bundle/1", Hash.hex(Hash.sha256(publicKey)), capturedAt.utc]
        let lines = (head + zip(hashes, entries).map { "\($0)  \($1.path)" }).map { "\($0)\n" }
        id = Self.uuid(Hash.sha256(Data(lines.joined().utf8)))
        var members: JSONValue.Members = [
            ("captured_at", .string(capturedAt.utc)), ("device", .string(publicKey.base64EncodedString())),
            ("entries", .array(entries.map(\.json))), ("id", .string(id)), ("version", 1),
        ]
        if let depth, let floats {
            let json: JSONValue = [
                "encoding": "float32-le", "height": .integer(depth.height), "sha256": .string(floats), "unit": "m",
                "source": ["encoding": "float32-le", "invalid": "nan-or-zero", "row_order": "top-first", "scale": "1"],
                "width": .integer(depth.width),
            ]
            members.append(("depth", json))
        }
        bytes = try JSONValue.object(members).encoded()
    }

    /// A UUID of version 8 (RFC 9562).
    private static func uuid(_ hash: Data) -> String {
        var bytes = Array(hash.prefix(16))
        (bytes[6], bytes[8]) = (bytes[6] & 0x0f | 0x80, bytes[8] & 0x3f | 0x80)
        return bytes.enumerated().map { String(format: [4, 6, 8, 10].contains($0) ? "-%02x" : "%02x", $1) }.joined()
    }
}
