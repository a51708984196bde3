import CaptureBundle
import CaptureNative

/// How the terminal of standard output can show a picture. Only the environment is checked: a terminal that does not
/// understand a query may never answer it.
package enum TerminalGraphics: Hashable, Sendable {
    /// The graphics protocol of kitty, which Ghostty and WezTerm have too.
    case kitty
    /// Characters that show two pixels each.
    case halfBlocks(HalfBlocks.Palette)

    package static var current: TerminalGraphics {
        let terminal = ProcessEnvironment.value("TERM") ?? ""
        let program = ProcessEnvironment.value("TERM_PROGRAM") ?? ""
        // A multiplexer passes on the variables of the terminal around it, but not the protocol.
        let isMultiplexed =
            ProcessEnvironment.value("TMUX") != nil || terminal.hasPrefix("screen") || terminal.hasPrefix("tmux")
        let isKitty =
            ProcessEnvironment.value("KITTY_WINDOW_ID") != nil || ["xterm-kitty", "xterm-ghostty"].contains(terminal)
            || ["WezTerm", "ghostty"].contains(program)
        if isKitty && !isMultiplexed { return .kitty }
        let depth = ProcessEnvironment.value("COLORTERM") ?? ""
        return .halfBlocks(["truecolor", "24bit"].contains(depth) ? .all : .of256)
    }
}

/// The escape sequences of kitty's graphics protocol (https://sw.kovidgoyal.net/kitty/graphics-protocol/).
package enum KittyGraphics {
    /// The maximum number of bytes of data in one sequence.
    private static let part = 4096

    /// The sequences that show a PNG file at the cursor, `columns` wide. They ask the terminal for no answer (q=2), because
    /// an answer would look like typed text.
    package static func sequences(png: [UInt8], columns: Int) -> [UInt8] {
        let data = Array(Base64.encode(png).utf8)
        var result: [UInt8] = []
        for start in stride(from: 0, to: max(data.count, 1), by: part) {
            let end = min(start + part, data.count)
            let more = end < data.count ? 1 : 0
            let head = start == 0 ? "a=T,f=100,q=2,c=\(columns),m=\(more)" : "m=\(more)"
            result += Array("\u{1b}_G\(head);".utf8) + data[start..<end] + Array("\u{1b}\\".utf8)
        }
        return result + [UInt8(ascii: "\n")]
    }
}
