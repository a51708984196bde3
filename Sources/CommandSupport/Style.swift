package import CaptureNative

/// Colour, where a person looks and wants it: on a terminal, and never with `NO_COLOR` (no-color.org) or `TERM=dumb`.
package enum Style: Sendable {
    case good, bad, doubtful

    private var code: String {
        switch self {
        case .good: "32"
        case .bad: "1;31"
        case .doubtful: "33"
        }
    }

    package func applied(to text: String, for stream: FileHandle) -> String {
        Self.isWanted(stream) ? "\u{1b}[\(code)m\(text)\u{1b}[0m" : text
    }

    private static func isWanted(_ stream: FileHandle) -> Bool {
        stream.isTerminal && ProcessEnvironment.value("NO_COLOR") == nil && ProcessEnvironment.value("TERM") != "dumb"
    }
}
