import CaptureNative

/// The kind of a device's key according to the trust file, never according to the bundle.
public enum TrustLevel: String, Sendable, CaseIterable {
    /// A key in a file.
    case software
    /// A key that does not leave a PKCS#11 token, or a TPM. Only the user of the trust file knows that; a bundle looks
    /// the same as with a key in a file.
    case token, tpm
    /// A key that Apple's App Attest attested.
    case appleAppAttest = "apple-appattest"
}

/// One device in a trust file (Spec/capture-bundle.md section 10).
public struct TrustedDeviceLine: Hashable, Sendable {
    /// The App ID, whose SHA-256 is part of what an Apple key signs.
    public struct RelyingPartyID: Hashable, Sendable {
        public let text: String
        let hash: Digest

        /// - Parameter text: `TEAMID.bundle.identifier`.
        public init(_ text: String) throws(BundleError) {
            let isValid =
                (1...255).contains(text.utf8.count)
                && text.utf8.allSatisfy { (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "\"") }
            guard isValid else {
                throw BundleError(.trustFile, "rpid \"\(text)\" is not 1 to 255 printable characters")
            }
            self.text = text
            hash = try Digest.of(Array(text.utf8))
        }
    }

    public let name: String
    public let point: DevicePoint
    public var level: TrustLevel = .software
    public var rpID: RelyingPartyID?
    /// The first moment that is trusted.
    public var validAfter: CaptureTime?
    /// The first moment that is no longer trusted.
    public var validBefore: CaptureTime?
    public var revocation: Revocation?

    public var isRevoked: Bool { revocation != nil }

    static let keyType = "p256"

    public init(name: String, point: DevicePoint) throws(BundleError) {
        try TrustLineFields.require(name: name)
        self.name = name
        self.point = point
    }

    /// The line as it is written to a file, without LF.
    public var text: String {
        TrustLineFields.text(
            name,
            options: [
                level == .software ? nil : "level=\(level.rawValue)", rpID.map { "rpid=\"\($0.text)\"" },
                validAfter.map { "valid-after=\($0)" }, validBefore.map { "valid-before=\($0)" }, revocation?.text,
            ], type: Self.keyType, base64: point.base64)
    }

    /// Parses a line. The errors that it throws do not name the file yet.
    package init(parsing line: String) throws(BundleError) { try self.init(TrustLineFields(line)) }

    init(_ fields: TrustLineFields) throws(BundleError) {
        guard fields.type == Self.keyType else {
            throw BundleError(.trustFile, "expected NAME [OPTIONS] p256 BASE64, or NAME [OPTIONS] tsa BASE64")
        }
        guard let bytes = Base64.decode(fields.base64), try DevicePoint.isOnCurve(bytes) else {
            throw BundleError(.trustFile, "the key is not base64 of an uncompressed point on P-256")
        }
        name = fields.name
        point = try DevicePoint(bytes: bytes)
        for (option, value) in fields.options { try read(option: option, value: value) }
        guard (level == .appleAppAttest) == (rpID != nil) else {
            throw BundleError(.trustFile, "expected both level=apple-appattest and rpid, or neither")
        }
    }

    private mutating func read(option: String, value: String?) throws(BundleError) {
        switch (option, value) {
        case ("revoked", nil): revocation = .always
        case ("revoked", let text?): revocation = .since(try Self.time(text))
        case ("level", let word?):
            guard let known = TrustLevel(rawValue: word) else {
                throw BundleError(.trustFile, "unknown level \(word)")
            }
            level = known
        case ("rpid", let quoted?):
            guard quoted.utf8.count > 2, quoted.hasPrefix("\""), quoted.hasSuffix("\"") else {
                throw BundleError(.trustFile, "rpid needs a value in double quotes")
            }
            rpID = try RelyingPartyID(quoted.without(first: 1, last: 1))
        case ("valid-after", let text?): validAfter = try Self.time(text)
        case ("valid-before", let text?): validBefore = try Self.time(text)
        default: throw BundleError(.trustFile, "unknown option \(option)")
        }
    }

    /// Parses a time in the grammar of `captured_at`, or a date, which means its first moment in UTC.
    ///
    /// Digits below the millisecond are rounded up. Capture times have whole milliseconds, so a capture is before the
    /// rounded time exactly if it is before the written one.
    public static func time(_ text: String) throws(BundleError) -> CaptureTime {
        guard let time = CaptureTime(text, rounding: .up) ?? CaptureTime(date: text) else {
            throw BundleError(.trustFile, "\"\(text)\" is neither a date like 2026-03-14 nor a time with a zone")
        }
        return time
    }

    /// Whether a text can be the name of a device: a letter or digit, then up to 63 letters, digits or `._@+-`.
    public static func isName(_ text: String) -> Bool {
        func isLetterOrDigit(_ byte: UInt8) -> Bool {
            EntryPath.isAlphanumeric(byte) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
        }
        guard let first = text.utf8.first, isLetterOrDigit(first), text.utf8.count <= 64 else { return false }
        return text.utf8.allSatisfy { isLetterOrDigit($0) || "._@+-".utf8.contains($0) }
    }
}

/// When a key is revoked.
public enum Revocation: Hashable, Sendable {
    /// It never counts, whatever shows when a signature was made.
    case always
    /// It does not count, except for signatures that a good time stamp shows to be from before this time.
    case since(CaptureTime)

    var text: String { time.map { "revoked=\($0)" } ?? "revoked" }

    /// The time of `since`.
    public var time: CaptureTime? { if case .since(let time) = self { time } else { nil } }

    /// Whether this revokes more signatures than the other one.
    package func isStricter(than other: Revocation?) -> Bool {
        switch (self, other) {
        case (_, nil): true
        case (_, .always): false
        case (.always, _): true
        case (.since(let time), .since(let known)): time < known
        }
    }
}

/// The parts of a line of the trust file: `NAME [OPTIONS] TYPE BASE64` (Spec/capture-bundle.md section 10).
struct TrustLineFields {
    let name: String
    let type: String
    let base64: String
    private(set) var options: [(name: String, value: String?)] = []

    /// Splits a line. The errors that it throws do not name the file yet.
    init(_ line: String) throws(BundleError) {
        guard line.utf8.last != UInt8(ascii: "\r") else {
            throw BundleError(.trustFile, "ends with CR LF, expected LF only")
        }
        let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        let fields = line.utf8.split(whereSeparator: isSpace).map { String(decoding: $0, as: UTF8.self) }
        guard line.trimmed == line, (3...4).contains(fields.count) else {
            throw BundleError(.trustFile, "expected NAME [OPTIONS] p256 BASE64, or NAME [OPTIONS] tsa BASE64")
        }
        (name, type, base64) = (fields[0], fields[fields.count - 2], fields[fields.count - 1])
        guard TrustedDeviceLine.isName(name) else {
            throw BundleError(.trustFile, "\(name) cannot be the name of a line")
        }
        guard fields.count == 4 else { return }
        for option in Self.split(fields[1]) {
            let parts = option.pieces(by: "=", limit: 2, keepsEmpty: true)
            guard !options.contains(where: { $0.name == parts[0] }) else {
                throw BundleError(.trustFile, "the option \(parts[0]) is given twice")
            }
            options.append((parts[0], parts.count == 2 ? parts[1] : nil))
        }
    }

    /// The line without LF.
    static func text(_ name: String, options: [String?], type: String, base64: String) -> String {
        let fields = [name, options.compactMap(\.self).joined(separator: ","), type, base64]
        return fields.filter { !$0.isEmpty }.joined(separator: " ")
    }

    /// Splits at commas that are not inside double quotes.
    private static func split(_ options: String) -> [String] {
        var isQuoted = false
        let parts = options.utf8.split(omittingEmptySubsequences: false) { byte in
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            return byte == UInt8(ascii: ",") && !isQuoted
        }
        return parts.map { String(decoding: $0, as: UTF8.self) }
    }

    /// - Throws: `trust.name`.
    static func require(name: String) throws(BundleError) {
        guard TrustedDeviceLine.isName(name) else {
            throw BundleError(
                .trustName,
                "\"\(name)\" is not a device name, expected a letter or digit, then up to 63 letters, digits or ._@+-")
        }
    }
}
