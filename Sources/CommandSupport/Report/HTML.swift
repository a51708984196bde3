import CaptureBundle

/// A piece of a page. Markup comes only from literals of our source code; whatever is interpolated becomes text, so no
/// text from outside can become markup.
///
/// ```swift
/// let cell: HTML = "<td>\(fileName)</td>"
/// ```
///
/// Values of attributes have to be in double quotes. The type of a literal is `StaticString`, so a text that is only
/// known at run time does not compile in place of one.
package struct HTML: Sendable, ExpressibleByStringInterpolation {
    /// The markup, which is plain ASCII where it comes from our literals.
    package let source: String

    package init(stringLiteral value: StaticString) { source = value.description }

    package init(stringInterpolation: StringInterpolation) { source = stringInterpolation.source }

    /// The pieces one after the other.
    package init(_ pieces: [HTML]) { source = pieces.map(\.source).joined() }

    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var source = ""

        package init(literalCapacity: Int, interpolationCount: Int) {
            source.reserveCapacity(literalCapacity + 32 * interpolationCount)
        }

        package mutating func appendLiteral(_ literal: StaticString) { source += literal.description }

        package mutating func appendInterpolation(_ html: HTML) { source += html.source }

        /// A piece that may be missing.
        package mutating func appendInterpolation(_ html: HTML?) { source += html?.source ?? "" }

        package mutating func appendInterpolation(_ pieces: [HTML]) { for piece in pieces { source += piece.source } }

        package mutating func appendInterpolation(_ number: Int) { source += String(number) }

        /// Text in the language of the page.
        package mutating func appendInterpolation(_ text: String) { source += HTML.escaped(text) }

        /// Text from outside, which may run from right to left, with no effect on the text around it.
        package mutating func appendInterpolation(foreign text: String) {
            source += "<bdi>\(HTML.escaped(text))</bdi>"
        }

        /// A file inside the page, for the attribute `src`.
        package mutating func appendInterpolation(file bytes: [UInt8], type: StaticString) {
            source += "data:\(type.description);base64,"
            source += Base64.encode(bytes)
        }
    }
}

extension HTML {
    /// The most characters of one text. A longer text ends with `…` and its length.
    static let textLimit = 500

    /// The text with the characters that have a meaning in HTML replaced, and with control characters, bidirectional
    /// controls and the like as `\u{…}`, as in messages.
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

/// A link to a page in the web.
package enum WebLink {
    /// The address as a link if it begins with http:// or https:// and has only characters of URLs; otherwise as text.
    package static func html(_ address: String) -> HTML {
        let isWeb = ["http://", "https://"].contains { address.lowercased().hasPrefix($0) }
        let isPlain = address.utf8.allSatisfy { (0x21...0x7e).contains($0) } && address.utf8.count <= HTML.textLimit
        guard isWeb, isPlain else { return "\(foreign: address)" }
        return "<a href=\"\(address)\" rel=\"noreferrer noopener\">\(address)</a>"
    }
}
