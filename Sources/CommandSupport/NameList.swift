package import ArgumentParser
package import CaptureBundle
import CaptureNative
import Synchronization
package import SystemPackage

/// File names from standard input, each ended by NUL (`find -print0`). They are read only when they are needed.
package final class NameList: Sendable {
    private struct State {
        var pending: [UInt8] = []
        var start = 0
        var isEnded = false
    }

    private let state = Mutex(State())
    private static let nameLimit = 1 << 16

    package init() {}

    /// The next name; nil at the end. Empty names are skipped.
    ///
    /// - Returns: A failure if the name is not UTF-8, is too long or is cut off, or if standard input cannot be read.
    package func next() -> Result<String, BundleError>? {
        state.withLock { state in
            do throws(BundleError) {
                return try Self.name(from: &state).map { .success($0) }
            } catch {
                return .failure(error)
            }
        }
    }

    private static func name(from state: inout State) throws(BundleError) -> String? {
        var isTooLong = false
        while true {
            if let end = state.pending[state.start...].firstIndex(of: 0) {
                let name = Array(state.pending[state.start..<end])
                state.start = end + 1
                guard !isTooLong, name.count <= nameLimit else {
                    throw wrong("a name has more than \(nameLimit) bytes")
                }
                if name.isEmpty { continue }
                if let text = String(validating: name, as: UTF8.self) { return text }
                throw BundleError(
                    .inputUnreadable, "the name is not UTF-8", file: String(decoding: name, as: UTF8.self),
                    cause: .advised, values: ["rename the file, or use a pipe"])
            }
            if state.isEnded {
                let isCut = isTooLong || state.start < state.pending.count
                (state.pending, state.start) = ([], 0)
                guard isCut else { return nil }
                // Perhaps only a part of the name arrived, and that part could be the name of another file.
                throw wrong("the last name does not end with NUL")
            }
            state.pending.removeFirst(state.start)
            state.start = 0
            if state.pending.count > nameLimit {
                isTooLong = true
                state.pending = []
            }
            try readMore(&state)
        }
    }

    private static func readMore(_ state: inout State) throws(BundleError) {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        do {
            let count = try FileHandle.standardInput.readSome(into: &buffer)
            state.pending += buffer[..<count]
            state.isEnded = count == 0
        } catch {
            (state.pending, state.start, state.isEnded) = ([], 0, true)
            throw BundleError(.inputOutput, "cannot be read: \(error.text)", file: "standard input")
        }
    }

    private static func wrong(_ message: String) -> BundleError {
        BundleError(.inputUnreadable, message, file: "standard input")
    }
}

/// Paths as users write them. `FilePath` drops a slash at the end, but that slash has a meaning.
extension FilePath {
    /// A path to a file. `name/` means a folder and must not become the file `name`, so it becomes `name/.`.
    package init(file text: String) {
        self.init(text)
        if text.hasSuffix("/") { append(".") }
    }

    /// A path to a folder. With a slash at its end, a symbolic link means the folder to which it leads.
    package init(folder text: String) {
        self.init(text)
        if text.hasSuffix("/") && FileStatus.isLink(self) { self = resolved }
    }
}

/// A command that takes many names. ArgumentParser needs time that grows with the square of their number (two seconds
/// for 10,000), so the names are removed from the command line before ArgumentParser reads the rest.
package protocol ManyNamesCommand: ParsableCommand {
    /// The names: all words that are neither options nor values.
    var names: [String] { get set }
}

enum ManyNames {
    /// Up to this number of names, ArgumentParser parses all of them.
    static let enough = 64
    /// The number of names that ArgumentParser still gets, so that it sees more than one.
    private static let kept = 2

    /// Parses a command line that begins with the name of the command.
    ///
    /// - Returns: nil if there are few names, or if only ArgumentParser can interpret a word on the line.
    static func parse(
        _ type: any ManyNamesCommand.Type, _ arguments: ArraySlice<String>, root: any ParsableCommand.Type
    ) throws -> (any ParsableCommand)? {
        guard let words = CommandOptions(type)?.split(arguments.dropFirst()), words.unknown == nil,
            words.names.count > enough
        else { return nil }
        let few = Array(arguments.prefix(1)) + words.options + ["--"] + words.names.prefix(kept)
        guard var command = try root.parseAsRoot(few) as? any ManyNamesCommand else { return nil }
        command.names = words.names
        try command.validate()
        return command
    }
}
