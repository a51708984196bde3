import CaptureBundle

/// A URL that may contain `{sha256}`, `{id}` and `{session}` (Spec/queue.md section 12).
public struct URLTemplate: Hashable, Sendable {
    private static let names = ["sha256", "id", "session"]
    public let text: String

    public init(_ text: String) { self.text = text }

    /// An example of a resulting URL.
    package var example: String { filled { _ in "a" } }

    /// The first unknown name in braces.
    package var unknown: String? {
        text.pieces(by: "{", keepsEmpty: true).dropFirst().lazy
            .map { $0.pieces(by: "}", limit: 2, keepsEmpty: true) }
            .first { $0.count == 1 || !Self.names.contains($0[0]) }.map { $0[0].cut(to: 20) }
    }

    /// Whether each capture gets a path of its own. Several captures can share an id, but not a hash, and a server may
    /// ignore the query.
    package var tellsCapturesApart: Bool {
        text.pieces(by: "#", keepsEmpty: true)[0].pieces(by: "?", keepsEmpty: true)[0].contains("{sha256}")
    }

    /// The text for output, without its query, which may contain a secret.
    package var shown: String {
        let parts = text.pieces(by: "?", limit: 2, keepsEmpty: true)
        return parts[0] + (parts.count > 1 ? "?…" : "")
    }

    package func filled(_ value: (String) -> String) -> String {
        var text = text
        for name in Self.names {
            text = text.pieces(around: "{\(name)}").joined(separator: value(name))
        }
        return text
    }

    /// Decodes the percent escapes.
    package static func unescapedBytes(_ text: String) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            let digits = String(decoding: rest.prefix(2), as: UTF8.self).lowercased()
            if byte == UInt8(ascii: "%"), digits.utf8.count == 2, let value = Hex.decode(digits)?.first {
                bytes.append(value)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }

    package static func unescaped(_ text: String) -> String { String(decoding: unescapedBytes(text), as: UTF8.self) }

    package static func escaped(_ text: String) -> String { escaped(bytes: Array(text.utf8)) }

    /// Escapes all bytes except the unreserved characters (RFC 3986 section 2.3).
    package static func escaped(bytes: some Sequence<UInt8>) -> String {
        bytes.map { byte in
            unreserved.contains(byte) ? String(Unicode.Scalar(byte)) : "%" + Hex.encode([byte]).uppercased()
        }.joined()
    }

    private static let unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8
}
