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
package struct HTML: Sendable, ExpressibleByStringInterpolation {
    /// The source of the piece.
    package let source: String

    package init(stringLiteral value: StaticString) { source = value.description }

    package init(stringInterpolation: StringInterpolation) { source = stringInterpolation.source }

    /// Joins pieces.
    package init(_ pieces: [HTML]) { source = pieces.map(\.source).joined() }

    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var source = ""

        package init(literalCapacity: Int, interpolationCount: Int) {
            source.reserveCapacity(literalCapacity + 32 * interpolationCount)
        }

        package mutating func appendLiteral(_ literal: StaticString) { source += literal.description }

        package mutating func appendInterpolation(_ html: HTML) { source += html.source }

        /// Adds a piece; nil adds nothing.
        package mutating func appendInterpolation(_ html: HTML?) { source += html?.source ?? "" }

        package mutating func appendInterpolation(_ pieces: [HTML]) { for piece in pieces { source += piece.source } }

        package mutating func appendInterpolation(_ number: Int) { source += String(number) }

        /// Adds text in the language of the page.
        package mutating func appendInterpolation(_ text: String) { source += HTML.escaped(text) }

        /// Adds text from outside, isolated so that right-to-left text does not affect the text around it.
        package mutating func appendInterpolation(foreign text: String) {
            source += "<bdi>\(HTML.escaped(text))</bdi>"
        }

        /// Adds a file as a `data:` URL for the attribute `src`.
        package mutating func appendInterpolation(file bytes: [UInt8], type: StaticString) {
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
        var shown = Visible.text(cut(text))
        guard shown.utf8.contains(where: { special.contains($0) }) else { return shown }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(shown.utf8.count + 32)
        for byte in shown.utf8 {
            switch byte {
            case UInt8(ascii: "&"): bytes += Array("&amp;".utf8)
            case UInt8(ascii: "<"): bytes += Array("&lt;".utf8)
            case UInt8(ascii: ">"): bytes += Array("&gt;".utf8)
            case UInt8(ascii: "\""): bytes += Array("&quot;".utf8)
            case UInt8(ascii: "'"): bytes += Array("&#39;".utf8)
            default: bytes.append(byte)
            }
        }
        shown = String(decoding: bytes, as: UTF8.self)
        return shown
    }

    private static let special = Array("&<>\"'".utf8)

    private static func cut(_ text: String) -> String {
        guard text.utf8.count > textLimit else { return text }
        let scalars = text.unicodeScalars
        guard let end = scalars.index(scalars.startIndex, offsetBy: textLimit, limitedBy: scalars.endIndex),
            end < scalars.endIndex
        else { return text }
        return "\(String(scalars[..<end]))… (\(text.utf8.count) bytes)"
    }
}

/// Makes links to web pages.
package enum WebLink {
    /// Returns the address as a link if it begins with http:// or https:// and has only characters of URLs, otherwise as
    /// text.
    package static func html(_ address: String) -> HTML {
        let isWeb = ["http://", "https://"].contains { address.lowercased().hasPrefix($0) }
        let isPlain = address.utf8.allSatisfy { (0x21...0x7e).contains($0) } && address.utf8.count <= HTML.textLimit
        guard isWeb, isPlain else { return "\(foreign: address)" }
        return "<a href=\"\(address)\" rel=\"noreferrer noopener\">\(address)</a>"
    }
}
