import CaptureBundle
import CaptureNative
import QueueModel
import SystemPackage

/// Reads a secret, such as a token or a passphrase, from the first line of a file or of a command's output.
enum SecretFile {
    private static let limit = 1 << 16
    /// The largest size in bytes of a value that goes into a header or is a URL.
    static let longest = 8192

    /// - Throws: the message for a file that cannot be read or is empty.
    static func firstLine(_ path: FilePath) throws -> [UInt8] {
        do throws(NativeError) {
            let line = Self.line(try FileHandle.reading(path).readAll(limit: limit))
            if !line.isEmpty { return line }
        } catch {
            throw SendOutcome.ours("\(path) cannot be read: \(error.text)")
        }
        throw SendOutcome.ours("the first line of \(path) is empty")
    }

    static func line(_ bytes: [UInt8]) -> [UInt8] {
        var line = Array(bytes.prefix { $0 != UInt8(ascii: "\n") })
        while let last = line.last, last == UInt8(ascii: "\r") || last == UInt8(ascii: " ") { line.removeLast() }
        return line
    }

    /// Whether a line can be sent in a header or as a URL.
    static func isPrintable(_ line: [UInt8]) -> Bool {
        line.count <= longest && line.allSatisfy { $0 > 0x20 && $0 < 0x7f }
    }

    /// Returns the first line that a shell command prints.
    static func firstLine(
        of command: String, _ environment: [String: String], _ control: SendControl
    ) throws -> String {
        let line = line(try output(of: command, environment, control))
        guard !line.isEmpty, isPrintable(line) else {
            throw SendOutcome.ours(
                "expected one line of at most \(longest) printable characters, without spaces, from the command")
        }
        return String(decoding: line, as: UTF8.self)
    }

    /// Returns all that a shell command prints, at most 64 KiB.
    static func output(
        of command: String, _ environment: [String: String], _ control: SendControl
    ) throws -> [UInt8] {
        var shell = ShellCommand(command)
        shell.environment = environment
        shell.outputLimit = limit
        shell.showsErrors = true
        let (ending, output): (ShellCommand.Ending, [UInt8])
        do throws(NativeError) {
            (ending, output) = try shell.run { control.stopped != nil }
        } catch {
            throw SendOutcome.ours("the command cannot be run: \(error.text)")
        }
        switch ending {
        case .code(0): break
        case .code(let code): throw SendOutcome.ours("the command ended with \(code)")
        case .signal(let number): throw SendOutcome.ours("the command was ended by signal \(number)")
        case .late: throw SendOutcome.ours("the command did not end within \(Int(shell.seconds)) s")
        }
        return output
    }
}
