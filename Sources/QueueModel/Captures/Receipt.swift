package import CaptureBundle

/// What proves that a destination has a bundle.
package enum Receipt {
    package static let sizeLimit = 1 << 20

    /// The part of the bundle that alone was sent; nil for a receipt of the whole bundle. `body` holds the whole bundle.
    package static func part(in text: String) -> String? {
        guard let part = member("part", of: text)?.text, part != "bundle", part != "body" else { return nil }
        return part
    }

    /// The SHA-256 of the bundle that was sent, where the receipt is one of ours.
    package static func sha256(in text: String) -> Digest? {
        member("sha256", of: text)?.text.flatMap(Digest.init(hex:))
    }

    /// The SHA-256 that a text of any form names; nil where it names several, or none.
    package static func onlyHash(in text: String) -> Digest? {
        let found = Set(hexWords(text).compactMap { Digest(hex: String(decoding: $0, as: UTF8.self)) })
        return found.count == 1 ? found.first : nil
    }

    /// How many bytes that bundle had.
    package static func byteCount(in text: String) -> Int? { member("bytes", of: text)?.integer }

    private static func member(_ name: String, of text: String) -> JSONValue? {
        guard text.utf8.first == UInt8(ascii: "{") else { return nil }
        return (try? JSONParser.parse(Array(text.utf8), nesting: 8))?[name]
    }

    /// Whether the text names the bundle: its SHA-256 stands in it as 64 hex digits of their own.
    package static func names(_ sha256: Digest, _ text: String) -> Bool {
        hexWords(text).contains { $0.elementsEqual(sha256.description.utf8) }
    }

    private static func hexWords(_ text: String) -> [[UInt8]] {
        text.lowercased().utf8.split { Hex.digit($0) == nil }.map { Array($0) }
    }
}
