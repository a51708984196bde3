import CaptureBundle

/// A piece of a page. Only literals in our source code are markup. Interpolated values become text, so text from outside
/// cannot become markup.
///
/// ```swift
/// let cell: HTML = "<td>\(fileName)</td>"
/// ```
///
/// Values of attributes have to be in double quotes. Literals are of type `StaticString`, so text that is made at run
/// time cannot be used as markup.
public struct HTML: Sendable, ExpressibleByStringInterpolation {
    public let source: String

    public init(stringLiteral value: StaticString) { source = value.description }

    public init(stringInterpolation: StringInterpolation) { source = stringInterpolation.source }

    public init(_ pieces: [HTML]) { source = pieces.map(\.source).joined() }

    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var source = ""

        public init(literalCapacity: Int, interpolationCount: Int) {
            source.reserveCapacity(literalCapacity + 32 * interpolationCount)
        }

        public mutating func appendLiteral(_ literal: StaticString) { source += literal.description }

        /// Adds a piece; nil adds nothing.
        public mutating func appendInterpolation(_ html: HTML?) { source += html?.source ?? "" }

        public mutating func appendInterpolation(_ pieces: [HTML]) { for piece in pieces { source += piece.source } }

        public mutating func appendInterpolation(_ number: Int) { source += String(number) }

        /// Adds text in the language of the page.
        public mutating func appendInterpolation(_ text: String) { source += HTML.escaped(text) }

        /// Adds text from outside, isolated so that right-to-left text does not affect the text around it.
        public mutating func appendInterpolation(foreign text: String) {
            source += "<bdi>\(HTML.escaped(text))</bdi>"
        }

        /// Adds a file as a `data:` URL for the attribute `src`.
        public mutating func appendInterpolation(file bytes: [UInt8], type: StaticString) {
            source += "data:\(type.description);base64,"
            source += Base64.encode(bytes)
        }
    }
}

extension HTML {
    /// The maximum number of characters of a text. A longer text is cut, and ends with `…` and its length.
    static let textLimit = 500

    /// Returns the text with the special characters of HTML escaped. Control characters, bidirectional controls and
    /// similar characters become `\u{…}`, as in messages.
    fileprivate static func escaped(_ text: String) -> String {
        var bytes: [UInt8] = []
        for byte in Visible.text(cut(text)).utf8 {
            switch byte {
            case UInt8(ascii: "&"): bytes += "&amp;".utf8
            case UInt8(ascii: "<"): bytes += "&lt;".utf8
            case UInt8(ascii: ">"): bytes += "&gt;".utf8
            case UInt8(ascii: "\""): bytes += "&quot;".utf8
            case UInt8(ascii: "'"): bytes += "&#39;".utf8
            default: bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func cut(_ text: String) -> String {
        guard text.utf8.count > textLimit else { return text }
        let short = text.cut(toWidth: textLimit)
        return short == text ? text : "\(short)… (\(text.utf8.count) bytes)"
    }
}

/// Makes links to web pages.
public enum WebLink {
    /// Returns the address as a link if it begins with http:// or https:// and has only characters of URLs, otherwise as
    /// text.
    public static func html(_ address: String) -> HTML {
        let isWeb = ["http://", "https://"].contains { address.lowercased().hasPrefix($0) }
        let isPlain = address.utf8.allSatisfy { (0x21...0x7e).contains($0) } && address.utf8.count <= HTML.textLimit
        guard isWeb, isPlain else { return "\(foreign: address)" }
        return "<a href=\"\(address)\" rel=\"noreferrer noopener\">\(address)</a>"
    }
}
