import Foundation

/// The body of the request that sends a bundle (Spec/upload.md sections 1 and 2).
public struct UploadBody: Sendable {
    public let bytes: Data

    public init(bytes: Data) { self.bytes = bytes }

    fileprivate init(_ parts: [(head: String, data: Data)], manifest: Data) throws {
        let candidates = (0...15).map { "capture-bundle-\(Hash.hex(Hash.sha256(manifest + "\($0)".utf8)).prefix(40))" }
        let free = candidates.first { candidate in !parts.contains { $0.data.range(of: Data(candidate.utf8)) != nil } }
        guard let free else { throw CaptureError("no boundary is free, so this bundle cannot be sent") }
        let body = parts.map {
            Data("--\(free)\r\nContent-Disposition: form-data; \($0)\r\n\r\n".utf8) + $1 + "\r\n".utf8
        }
        bytes = body.reduce(Data(), +) + "--\(free)--\r\n".utf8
    }

    /// The headers of a request, made anew for each attempt.
    ///
    /// - Parameters:
    ///   - device: The name that the server gave to the device.
    ///   - key: The key by which the server knows the device. A key of App Attest cannot sign requests.
    public func headers(device: UUID, key: DeviceKey, at time: Date = Date()) throws -> [String: String] {
        let boundary = String(decoding: bytes.dropFirst(2).prefix(55), as: UTF8.self)
        guard boundary.hasPrefix("capture-bundle-") else { throw CaptureError("this is not the body of a bundle") }
        let milliseconds = (time.timeIntervalSince1970 * 1000).rounded(.down)
        guard (0...9e15).contains(milliseconds) else { throw CaptureError("\(time) cannot be the time of a request") }
        let timestamp = String(Int(milliseconds))
        let signature = try key.signature(of: Data("\(timestamp)|\(Hash.hex(Hash.sha256(bytes)))".utf8))
        return [
            "Content-Type": "multipart/form-data; boundary=\(boundary)", "X-Device-Id": device.uuidString.lowercased(),
            "X-Device-Timestamp": timestamp, "X-Device-Signature": signature.base64EncodedString(),
        ]
    }
}

extension SignedBundle {
    /// The body that sends this bundle.
    public func uploadBody() throws -> UploadBody {
        func part(_ name: String, _ file: String, _ type: String, _ data: Data) -> (head: String, data: Data) {
            ("name=\"\(name)\"; filename=\"\(file)\"\r\nContent-Type: \(type)", data)
        }
        let signed = [
            ("name=\"metadata\"\r\nContent-Type: application/json", try serverMetadata()),
            part("manifest", "manifest.json", Manifest.mediaType, manifest.bytes),
            part("assertion.cbor", "assertion.cbor", "application/cbor", assertion),
        ]
        let names = ["depth.f32.gz": ("depth_map", "depth.gz"), "photo.jpg": ("photo", "capture.jpg")]
        let payload = entries.map { entry in
            let (name, file) = names[entry.path] ?? (entry.path, entry.path)
            return part(name, file, entry.mediaType, entry.bytes)
        }
        return try UploadBody(signed + payload, manifest: manifest.bytes)
    }

    /// What a server reads that does not know bundles (Spec/upload.md section 1.2).
    private func serverMetadata() throws -> Data {
        var members: JSONValue.Members = [
            ("assertion", .string(assertion.base64EncodedString())), ("captured_at", .string(capture.capturedAt.utc)),
            ("device_model", .string(capture.deviceModel)),
            ("photo_hash", .string(Hash.sha256(capture.photo).base64EncodedString())),
        ]
        if let depth = capture.depth { members.append(("depth_map_dimensions", depth.dimensions)) }
        if let location = capture.location { members.append(("location", .object(location.numbers))) }
        return try JSONValue.object(members).encoded()
    }
}
