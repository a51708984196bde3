public import CaptureBundle
import CaptureNative
public import SystemPackage

/// Signs uploads to a RealityCam server with a key of its own (Spec/upload.md section 6).
///
/// ```swift
/// let file = DeviceKeyFile(path: DeviceKeyFile.usualRealityCamPath)
/// let signer = try RealityCamSigner(file, passphrase: .none)
/// let body = try MultipartBody.write(bundle: "cap.bundle", realityCam: signer, to: .file("body"))
/// let headers = try signer.sign(RealityCamBody(BundleSource(path: "body")), deviceID: id, timestamp: now).headers
/// ```
public struct RealityCamSigner: Sendable {
    private let file: DeviceKeyFile
    private let device: DeviceKey
    private let rpIDHash: Digest
    public var point: DevicePoint { device.point }

    /// Loads the key.
    ///
    /// - Parameter rpID: The app that the server expects, `TEAM.BUNDLE` in its settings.
    /// - Throws: `request.header` if the rpID has another form, and the errors of `DeviceKeyFile.load`.
    public init(
        _ file: DeviceKeyFile, passphrase: Passphrase, rpID: String = RealityCamRPID.usual
    ) throws(BundleError) {
        guard RealityCamRPID.isWellFormed(rpID) else {
            throw BundleError(
                .requestHeader, "the rpid \"\(rpID)\" is not a team and a bundle id, such as \(RealityCamRPID.usual)")
        }
        self.file = file
        device = try file.load(passphrase)
        rpIDHash = try Digest.of(Array(rpID.utf8))
    }

    /// The files of its key, whether they exist or not.
    package var files: [FilePath] { file.files }

    /// The form of a body. Its counters are reserved when its assertion is made.
    var form: RealityCamForm {
        RealityCamForm { clientData in
            try self.signed(clientData, counter: file.reserveRealityCamBody(for: device))
        }
    }

    /// Signs one attempt to send a body from a file, with the next counter below that of its assertion.
    ///
    /// - Parameter timestamp: The Unix time in milliseconds.
    /// - Throws: `request.header`; `key.state` if no counter is left for this body; `request.signature` if its assertion
    ///   was not made by this key for this server.
    public func sign(
        _ body: RealityCamBody, deviceID: String, timestamp: Int
    ) throws(BundleError) -> RequestSignature {
        try RequestSignature.check(deviceID: deviceID, timestamp: timestamp)
        let counter: UInt32
        if let assertion = body.assertion {
            try refuseForeign(assertion, body)
            do {
                counter = try file.reserveRealityCamHeader(below: assertion.authenticatorData.counter, for: device)
            } catch {
                throw error.code == .keyState && error.file == nil ? error.about(file: body.name) : error
            }
        } else {
            counter = try file.reserveRealityCamRequest(withAssertion: false, for: device).header
        }
        return try sign(body.sha256, counter: counter, deviceID: deviceID, timestamp: timestamp)
    }

    private func refuseForeign(_ assertion: Assertion, _ body: RealityCamBody) throws(BundleError) {
        guard assertion.authenticatorData.rpIDHash == rpIDHash else {
            throw BundleError(
                .requestSignature, "the assertion of the body is for another app than the one of --rpid",
                file: body.name)
        }
        guard try assertion.verifies(realityCam: body.clientData, key: device.key.publicKey) else {
            throw BundleError(
                .requestSignature, "the assertion of the body was not made with the key \(file.path)",
                file: body.name)
        }
    }

    // MARK: - For a sender that signs just before it sends

    /// The path of the lock that a sender holds from the reservation of counters to the end of the answer.
    package var turnPath: FilePath { file.realPath.adding(".sending") }

    /// Reserves the counters of one request that is sent immediately.
    package func reserve(
        withAssertion: Bool
    ) throws(BundleError) -> (header: UInt32, assertion: UInt32?) {
        try file.reserveRealityCamRequest(withAssertion: withAssertion, for: device)
    }

    /// The form of a body whose assertion gets this counter.
    package func form(counter: UInt32) -> RealityCamForm {
        RealityCamForm { clientData in try self.signed(clientData, counter: counter) }
    }

    /// Signs the headers of a request.
    ///
    /// - Parameter body: The SHA-256 of the whole body.
    package func sign(
        _ body: Digest, counter: UInt32, deviceID: String, timestamp: Int
    ) throws(BundleError) -> RequestSignature {
        try RequestSignature.check(deviceID: deviceID, timestamp: timestamp)
        let made = try signed(Array("\(timestamp)|\(body)".utf8), counter: counter)
        return RequestSignature(
            deviceID: deviceID, timestamp: String(timestamp), signature: Base64.encode(made.encode()))
    }

    package func signed(_ clientData: [UInt8], counter: UInt32) throws(BundleError) -> Assertion {
        try Assertion(
            realityCam: clientData,
            authenticatorData: AuthenticatorData(rpIDHash: rpIDHash, flags: 0x40, counter: counter), key: device.key)
    }
}

extension MultipartBody {
    /// Verifies a bundle and writes the body for a RealityCam server (Spec/upload.md section 6.1), in one pass over the
    /// payload. Trust is not checked.
    ///
    /// - Parameters:
    ///   - path: A bundle, or `-` for standard input.
    ///   - signer: Signs the assertion; nil leaves the assertion out.
    ///   - headers: Where to write the request's `Content-Type` line; nil to write none.
    /// - Throws: The errors of `write(bundle:to:headers:)`; `entry.absent` without a photo or a depth map;
    ///   `output.unusable` if one is too large; `key.state`, `key.counter`.
    public static func write(
        bundle path: FilePath, realityCam signer: RealityCamSigner?, to place: OutputPlace, headers: OutputPlace? = nil
    ) throws(BundleError) -> MultipartBody {
        do {
            return try write(
                signer?.form ?? RealityCamForm(assertion: nil), bundle: path, to: place, headers: headers)
        } catch {
            // Errors of the form do not have the name of the bundle, so it is added here.
            guard error.file == nil, error.verdict == nil else { throw error }
            throw error.about(file: path.string)
        }
    }
}

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
        var head: [UInt8] = []
        sha256 = try source.digest { piece in
            head.append(copying: piece.extracting(first: min(piece.count, Self.headLimit - head.count)))
        }
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
