package import CaptureBundle

/// Reads receipts, which prove that a destination has a bundle.
package enum Receipt {
    package static let sizeLimit = 1 << 20

    /// The part of the bundle that was sent; nil for the whole bundle. A `body` contains the whole bundle.
    package static func part(in text: String) -> String? {
        guard let part = member("part", of: text)?.text, part != "bundle", part != "body" else { return nil }
        return part
    }

    /// The SHA-256 of the bundle that was sent; nil if this tool did not write the receipt.
    package static func sha256(in text: String) -> Digest? {
        member("sha256", of: text)?.text.flatMap(Digest.init(hex:))
    }

    /// The only SHA-256 in a text of any form; nil if it contains none or several.
    package static func onlyHash(in text: String) -> Digest? {
        let found = Set(hexWords(text).compactMap { Digest(hex: String(decoding: $0, as: UTF8.self)) })
        return found.count == 1 ? found.first : nil
    }

    /// The size of the bundle that was sent.
    package static func byteCount(in text: String) -> Int? { member("bytes", of: text)?.integer }

    /// The file that a folder got.
    package static func path(in text: String) -> String? { member("path", of: text)?.text }

    private static func member(_ name: String, of text: String) -> JSONValue? {
        guard text.utf8.first == UInt8(ascii: "{") else { return nil }
        return (try? JSONParser.parse(Array(text.utf8), nesting: 8))?[name]
    }

    /// Whether the text contains the SHA-256 of the bundle as a separate word of 64 hex digits.
    package static func names(_ sha256: Digest, _ text: String) -> Bool {
        hexWords(text).contains { $0.elementsEqual(sha256.description.utf8) }
    }

    private static func hexWords(_ text: String) -> [[UInt8]] {
        text.lowercased().utf8.split { Hex.digit($0) == nil }.map { Array($0) }
    }
}
