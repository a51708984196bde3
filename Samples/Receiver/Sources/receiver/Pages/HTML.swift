/// A piece of a page. Only literals in our source code are markup. Interpolated values become text, so a text from outside
/// cannot become markup. Values of attributes have to be in double quotes.
///
/// ```swift
/// let cell: HTML = "<td>\(foreign: model)</td>"
/// ```
struct HTML: Sendable, ExpressibleByStringInterpolation {
    let source: String

    // `StaticString` accepts only literals, so text that is made at run time cannot be used as markup.
    init(stringLiteral literal: StaticString) { source = literal.description }

    init(stringInterpolation parts: StringInterpolation) { source = parts.source }

    init(_ pieces: [HTML]) { source = pieces.map(\.source).joined() }

    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var source = ""

        init(literalCapacity: Int, interpolationCount: Int) { source.reserveCapacity(literalCapacity) }

        mutating func appendLiteral(_ literal: StaticString) { source += literal.description }

        /// Adds a piece; nil adds nothing.
        mutating func appendInterpolation(_ piece: HTML?) { source += piece?.source ?? "" }

        mutating func appendInterpolation(_ pieces: [HTML]) { source += HTML(pieces).source }

        mutating func appendInterpolation(_ number: Int) { source += String(number) }

        /// Adds text in the language of the page.
        mutating func appendInterpolation(_ text: String) { source += PageText.escaped(text) }

        /// Adds text from outside, isolated so that right-to-left text does not affect the text around it.
        mutating func appendInterpolation(foreign text: String) {
            source += "<bdi>" + PageText.escaped(text) + "</bdi>"
        }
    }
}

/// Turns any text into text of a page.
enum PageText {
    /// The maximum number of bytes of a text. Of a longer one, the page shows the beginning.
    static let limit = 500

    /// Escapes the characters that HTML gives a meaning. Controls, bidirectional controls and other characters without a
    /// shape of their own become `\u{…}`.
    static func escaped(_ text: String) -> String {
        var shown = ""
        var length = 0
        for scalar in text.unicodeScalars {
            length += UTF8.width(scalar)
            guard length <= limit else { return shown + "…" }
            switch scalar {
            case "&": shown += "&amp;"
            case "<": shown += "&lt;"
            case ">": shown += "&gt;"
            case "\"": shown += "&quot;"
            case "'": shown += "&#39;"
            default:
                if isPlain(scalar) {
                    shown.unicodeScalars.append(scalar)
                } else {
                    shown += "\\u{" + String(scalar.value, radix: 16) + "}"
                }
            }
        }
        return shown
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }
}
