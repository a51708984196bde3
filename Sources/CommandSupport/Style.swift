import CaptureNative

/// Colours for terminals. There is no colour with `NO_COLOR` (no-color.org) or `TERM=dumb`.
package enum Style: String, Sendable {
    case good = "32"
    case bad = "1;31"
    case doubtful = "33"

    /// Colours text for standard output.
    package func output(_ text: String) -> String { applied(to: text, Self.isWantedOnOutput) }

    /// Colours text for standard error.
    package func message(_ text: String) -> String { applied(to: text, Self.isWantedOnErrors) }

    /// Whether standard output is a terminal and shows colours.
    package static let isWantedOnOutput = isWanted(.standardOutput)
    private static let isWantedOnErrors = isWanted(.standardError)

    private func applied(to text: String, _ isWanted: Bool) -> String {
        isWanted ? "\u{1b}[\(rawValue)m\(text)\u{1b}[0m" : text
    }

    private static func isWanted(_ stream: FileHandle) -> Bool {
        stream.isTerminal && ProcessEnvironment.value("NO_COLOR") == nil && ProcessEnvironment.value("TERM") != "dumb"
    }
}
