public import CaptureBundle
import CaptureNative

/// What is read from a body for RealityCam: its hash, and the contents of its first part.
public struct RealityCamBody: Sendable {
    public let sha256: Digest
    /// The name of the source in messages.
    let name: String
    /// The assertion of the metadata part; nil if it has none.
    let assertion: Assertion?
    /// The client data that the assertion signs.
    let clientData: [UInt8]

    /// The number of bytes at the beginning in which the metadata part has to be. The part is always shorter.
    private static let headLimit = 1 << 16

    /// Reads a body, in constant memory. Only its first part is parsed; the server judges the rest.
    ///
    /// - Throws: `body.truncated` if the source is empty; `body.boundary`, `body.header` or `body.metadata` if it does not
    ///   begin as a body of this profile.
    public init(_ source: BundleSource) throws(BundleError) {
        name = source.name
        let hasher = try native { try SHA256Hasher() }
        var head: [UInt8] = []
        while try source.lend(
            1 << 20,
            to: { piece in
                head.append(copying: piece.extracting(first: min(piece.count, Self.headLimit - head.count)))
                try hasher.update(piece)
            }) > 0
        {}
        sha256 = Digest(bytes: try native { try hasher.finish() })
        guard !head.isEmpty else {
            throw BundleError(.bodyTruncated, "is empty, expected an upload body", file: source.name)
        }
        let root = try Self.metadata(head, source.name)
        guard let photoHash = root["photo_hash"]?.text, let capturedAt = root["captured_at"]?.text else {
            throw BundleError(.bodyMetadata, "its metadata has no photo_hash or no captured_at", file: source.name)
        }
        clientData = RealityCamForm.clientData(photoHash: photoHash, capturedAt: capturedAt)
        guard let member = root["assertion"] else {
            assertion = nil
            return
        }
        guard let bytes = member.text.flatMap(Base64.decode), let decoded = try? Assertion(decoding: bytes) else {
            throw BundleError(.bodyMetadata, "its assertion is not the base64 of a CBOR map", file: source.name)
        }
        assertion = decoded
    }

    /// Parses the first part of a body.
    private static func metadata(_ head: [UInt8], _ name: String) throws(BundleError) -> JSONValue {
        let dashes = Array("--".utf8)
        let crlf = Array("\r\n".utf8)
        let lineLength = dashes.count + RealityCamForm.boundaryPrefix.count + MultipartBoundary.digits
        let line = Array(head.prefix(lineLength))
        guard line.starts(with: dashes),
            MultipartBoundary(Array(line.dropFirst(dashes.count)), prefix: RealityCamForm.boundaryPrefix) != nil
        else {
            let kind = FileKind(head)
            let words = kind.map { "is \($0.words)" } ?? "is not an upload body"
            throw BundleError(
                .bodyBoundary, "\(words), expected a body of profile realitycam", file: name,
                cause: kind?.family == .bundle ? .bundleAsRealityCamBody : .noRealityCamBody)
        }
        let start = line + crlf + RealityCamForm.metadataHeader
        guard head.starts(with: start) else {
            throw BundleError(.bodyHeader, "does not begin with the part metadata", file: name)
        }
        let end = ByteSearch.first(crlf + line, in: head.span, from: start.count)
        guard let end, let root = try? JSONParser.parse(Array(head[start.count..<end]), nesting: 8),
            root.members != nil
        else { throw BundleError(.bodyMetadata, "its metadata part is not a JSON object", file: name) }
        return root
    }
}

extension BundleError.Cause {
    public static let noRealityCamBody = Self("realitycam.none")
    public static let bundleAsRealityCamBody = Self("realitycam.bundle")
    /// The key has no counter left between the last one and that of the body.
    public static let bodyUsedUp = Self("realitycam.used")
}
