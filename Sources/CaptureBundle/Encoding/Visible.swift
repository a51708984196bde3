/// Makes text from outside safe to print: a bundle must not be able to control a terminal.
package enum Visible {
    /// The text with control characters, bidirectional controls and similar characters replaced by `\u{…}`.
    package static func text(_ text: String) -> String {
        if text.utf8.allSatisfy({ (0x20...0x7e).contains($0) }) { return text }
        var shown = ""
        for scalar in text.unicodeScalars {
            if isPlain(scalar) {
                shown.unicodeScalars.append(scalar)
            } else {
                shown += "\\u{\(String(scalar.value, radix: 16))}"
            }
        }
        return shown
    }

    /// Whether a character has a shape of its own.
    package static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        if (0x20...0x7e).contains(scalar.value) { return true }
        return switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }
}
