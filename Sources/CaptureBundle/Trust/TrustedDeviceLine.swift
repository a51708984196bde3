import CaptureNative

/// The kind of a device's key according to the trust file, never according to the bundle.
public enum TrustLevel: String, Sendable, CaseIterable {
    /// A key in a file.
    case software
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
    public var isRevoked = false

    private static let keyType = "p256"

    public init(name: String, point: DevicePoint) throws(BundleError) {
        guard Self.isName(name) else {
            throw BundleError(
                .trustName,
                "\"\(name)\" is not a device name, expected a letter or digit, then up to 63 letters, digits or ._@+-")
        }
        self.name = name
        self.point = point
    }

    /// The line as it is written to a file, without LF.
    public var text: String {
        var options: [String] = []
        if level != .software { options.append("level=\(level.rawValue)") }
        if let rpID { options.append("rpid=\"\(rpID.text)\"") }
        if let validAfter { options.append("valid-after=\(validAfter)") }
        if let validBefore { options.append("valid-before=\(validBefore)") }
        if isRevoked { options.append("revoked") }
        let fields = [name, options.joined(separator: ","), Self.keyType, point.base64]
        return fields.filter { !$0.isEmpty }.joined(separator: " ")
    }

    /// Parses a line. The errors that it throws do not name the file yet.
    package init(parsing line: String) throws(BundleError) {
        guard line.utf8.last != UInt8(ascii: "\r") else {
            throw BundleError(.trustFile, "ends with CR LF, expected LF only")
        }
        let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        let fields = line.utf8.split(whereSeparator: isSpace).map { String(decoding: $0, as: UTF8.self) }
        guard line.trimmed == line, (3...4).contains(fields.count),
            fields[fields.count - 2] == Self.keyType
        else {
            throw BundleError(.trustFile, "expected NAME [OPTIONS] p256 BASE64")
        }
        guard let bytes = Base64.decode(fields[fields.count - 1]), try DevicePoint.isOnCurve(bytes) else {
            throw BundleError(.trustFile, "the key is not base64 of an uncompressed point on P-256")
        }
        guard Self.isName(fields[0]) else { throw BundleError(.trustFile, "\(fields[0]) is not a device name") }
        name = fields[0]
        point = try DevicePoint(bytes: bytes)
        if fields.count == 4 { try read(options: fields[1]) }
        guard (level == .appleAppAttest) == (rpID != nil) else {
            throw BundleError(.trustFile, "expected both level=apple-appattest and rpid, or neither")
        }
    }

    private mutating func read(options: String) throws(BundleError) {
        var seen: [String] = []
        for option in Self.split(options) {
            let parts = option.pieces(by: "=", limit: 2, keepsEmpty: true)
            defer { seen.append(parts[0]) }
            guard !seen.contains(parts[0]) else {
                throw BundleError(.trustFile, "the option \(parts[0]) is given twice")
            }
            try read(option: parts[0], value: parts.count == 2 ? parts[1] : nil)
        }
    }

    private mutating func read(option: String, value: String?) throws(BundleError) {
        switch (option, value) {
        case ("revoked", nil): isRevoked = true
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

    /// Splits at commas that are not inside double quotes.
    private static func split(_ options: String) -> [String] {
        var isQuoted = false
        let parts = options.utf8.split(omittingEmptySubsequences: false) { byte in
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            return byte == UInt8(ascii: ",") && !isQuoted
        }
        return parts.map { String(decoding: $0, as: UTF8.self) }
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
