import CaptureNative
public import SystemPackage

/// A time stamping authority in a trust file (Spec/time-stamps.md section 4).
public struct TrustedAuthorityLine: Hashable, Sendable {
    /// The name of the line; for a certificate of `TrustFile.append(certificates:)`, the name of its file.
    public let name: String
    /// The DER of the certificate of the authority, or of one above it. It is known to be one DER SEQUENCE only.
    public let certificate: [UInt8]
    /// Time stamps from before this moment are not trusted.
    public var validAfter: CaptureTime?
    /// Time stamps from this moment on are not trusted.
    public var validBefore: CaptureTime?
    public var isRevoked = false
    /// The file with the line or the certificate, as the user named it.
    private let file: String

    static let keyType = "tsa"
    private static let certificateLimit = 16_384
    private static let fileLimit = 1 << 20

    private init(file: FilePath, certificate: [UInt8]) {
        (name, self.file) = (file.string, file.string)
        self.certificate = certificate
    }

    /// - Parameter path: A PEM file with one certificate.
    /// - Throws: `trust.name`, `input.unreadable`, `key.damaged`.
    public init(name: String, path: FilePath) throws(BundleError) {
        try TrustLineFields.require(name: name)
        let found = try Self.read(path)
        guard found.count == 1 else {
            throw BundleError(
                .keyDamaged, "has \(found.count) certificates, expected that of the authority alone", file: path)
        }
        (self.name, file) = (name, path.string)
        certificate = found[0].certificate
    }

    /// The certificates of a PEM file, each as a line with the name of the file.
    static func read(_ path: FilePath) throws(BundleError) -> [TrustedAuthorityLine] {
        let found = try native({ $0.origin == .system ? .reading(path, $0) : .unexpected($0) }) {
            let handle = path == "-" ? FileHandle.standardInput : try FileHandle.reading(path)
            return try Certificate.read(pem: handle.readAll(limit: fileLimit))
        }
        guard let found, !found.isEmpty, found.allSatisfy({ $0.count <= certificateLimit }) else {
            throw BundleError(
                .keyDamaged, "is not a PEM file with certificates of at most \(certificateLimit) bytes", file: path)
        }
        return found.map { TrustedAuthorityLine(file: path, certificate: $0) }
    }

    init(_ fields: TrustLineFields, file: String) throws(BundleError) {
        guard let bytes = Base64.decode(fields.base64), bytes.count <= Self.certificateLimit,
            DER.elements(bytes[...])?.map(\.tag) == [DER.sequenceTag]
        else {
            throw BundleError(
                .trustFile,
                "the certificate is not base64 of one DER SEQUENCE of at most \(Self.certificateLimit) bytes")
        }
        (name, self.file) = (fields.name, file)
        certificate = bytes
        for (option, value) in fields.options {
            switch (option, value) {
            case ("valid-after", let text?): validAfter = try TrustedDeviceLine.time(text)
            case ("valid-before", let text?): validBefore = try TrustedDeviceLine.time(text)
            case ("revoked", nil): isRevoked = true
            default: throw BundleError(.trustFile, "a line with tsa has no option \(option)\(value == nil ? "" : "=")")
            }
        }
    }

    /// The line as it is written to a file, without LF.
    public var text: String {
        TrustLineFields.text(
            name,
            options: [
                validAfter.map { "valid-after=\($0)" }, validBefore.map { "valid-before=\($0)" },
                isRevoked ? "revoked" : nil,
            ], type: Self.keyType, base64: Base64.encode(certificate))
    }

    /// The certificate, parsed.
    ///
    /// - Throws: `trust.file` if the DER is not that of a certificate.
    func parsed() throws(BundleError) -> Certificate {
        guard let parsed = try (native { try Certificate(der: certificate) }) else {
            throw BundleError(.trustFile, "the tsa line \(name) does not hold an X.509 certificate", file: file)
        }
        return parsed
    }

    /// The SHA-256 of the certificate, as other tools print it.
    public var fingerprint: Digest { get throws(BundleError) { try Digest.of(certificate) } }
}
