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
        guard Self.isName(name) else { throw BundleError(.trustFile, "\(name) cannot be the name of a line") }
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
    static func text(_ name: String, _ options: [String?], _ type: String, _ base64: String) -> String {
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

    static func isName(_ text: String) -> Bool {
        func isLetterOrDigit(_ byte: UInt8) -> Bool {
            EntryPath.isAlphanumeric(byte) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
        }
        guard let first = text.utf8.first, isLetterOrDigit(first), text.utf8.count <= 64 else { return false }
        return text.utf8.allSatisfy { isLetterOrDigit($0) || "._@+-".utf8.contains($0) }
    }

    /// - Throws: `trust.name`.
    static func require(name: String) throws(BundleError) {
        guard isName(name) else {
            throw BundleError(
                .trustName,
                "\"\(name)\" is not a device name, expected a letter or digit, then up to 63 letters, digits or ._@+-")
        }
    }
}
