import Glibc

/// The terminal that the process was started from, if there is one, wherever its streams go.
package enum Terminal {
    private static let interrupt: UInt8 = 3
    private static let endOfInput: UInt8 = 4

    /// Asks for a line without showing what is typed.
    ///
    /// - Returns: the line without its end; nil when there is no terminal, or the user gave it up (Ctrl-C, Ctrl-D).
    package static func readSecret(prompt: String) throws(NativeError) -> [UInt8]? {
        guard let terminal = try? FileHandle.open("/dev/tty", O_RDWR | O_NOCTTY), terminal.isTerminal else {
            return nil
        }
        var shown = termios()
        guard unsafe tcgetattr(terminal.descriptor, &shown) == 0 else { throw .system("tcgetattr") }
        var hidden = shown
        // Without ISIG, Ctrl-C comes as a character: it must not end the process while the echo is off.
        hidden.c_lflag &= ~tcflag_t(ECHO | ISIG)
        try terminal.write(Array(prompt.utf8))
        guard unsafe tcsetattr(terminal.descriptor, TCSAFLUSH, &hidden) == 0 else { throw .system("tcsetattr") }
        defer {
            unsafe _ = tcsetattr(terminal.descriptor, TCSAFLUSH, &shown)
            try? terminal.write(Array("\n".utf8))
        }
        var line: [UInt8] = []
        var byte: [UInt8] = [0]
        while try terminal.readSome(into: &byte) == 1, byte[0] != UInt8(ascii: "\n") {
            if byte[0] == interrupt || byte[0] == endOfInput { return nil }
            line.append(byte[0])
        }
        return line
    }
}
