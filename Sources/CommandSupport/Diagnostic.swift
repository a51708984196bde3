package import CaptureBundle
package import CaptureDevice
import CaptureNative

/// Prints messages for people on standard error. The rules:
///
/// - An error has the form `capbundle: error: FILE: what was found, what was expected`. `capbundle: hint: …` lines with
///   what to do can follow.
/// - A message is in lower case, without a full stop, on one line, and names the file as the user wrote it.
/// - A `warning` is about data that may be refused or may leak; a `note` is about facts that may be useful.
/// - On a terminal, colour marks the word `error` or `warning` and nothing else.
/// - Positions never appear here. Control characters from files are made visible.
package struct Diagnostic: Sendable {
    private let tool: String

    package init(tool: String) { self.tool = tool }

    package func error(_ error: BundleError) {
        self.error(CommandFailure(error))
    }

    package func error(_ failure: CommandFailure) {
        write("error", failure.message, hints: failure.hints)
        failure.further.forEach(error)
    }

    /// Prints hints, but only those that need no escapes: an escaped hint would be a command about another file.
    private func hint(_ hints: [String]) {
        for hint in hints where Visible.text(hint) == hint { write("hint", hint) }
    }

    package func usage(_ message: String, hint: String) {
        write("error", message, hints: [hint])
    }

    package func remark(_ remark: Remark) {
        write(remark.weight.rawValue, "\(remark.file): \(remark.message)")
    }

    /// Prints a finding about several files; an error if it has no weight.
    package func finding(_ weight: Remark.Weight?, _ text: String, hints: [String]) {
        write(weight?.rawValue ?? "error", text, hints: hints)
    }

    package func warning(_ text: String, hints: [String] = []) {
        write("warning", text, hints: hints)
    }

    package func warning(_ error: BundleError) {
        warning("\(error)", hints: error.advice)
    }

    package func note(_ text: String, hints: [String] = []) {
        write("note", text, hints: hints)
    }

    /// Prints a note that ends with a command. It is left out if the command needs escapes, since it would then name
    /// another file.
    package func note(_ text: String, command: String) {
        if Visible.text(command) == command { note("\(text): \(command)") }
    }

    /// What can be done about a finding that is told elsewhere.
    package func hints(of finding: BundleError, in file: String) { hint(finding.about(file: file).advice) }

    private func write(_ kind: String, _ text: String, hints: [String] = []) {
        let style: Style? = kind == "error" ? .bad : kind == "warning" ? .doubtful : nil
        Output.message("\(tool): \(style?.message(kind) ?? kind): \(Visible.text(text))")
        hint(hints)
    }
}

/// An error message with its exit code.
package struct CommandFailure: Sendable {
    package let code: String
    package let message: String
    package var hints: [String]
    package let status: ExitStatus
    /// Other errors that were found with it.
    private(set) var further: [CommandFailure] = []

    package init(code: String, message: String, hints: [String], status: ExitStatus) {
        self.code = code
        self.message = message
        self.hints = hints
        self.status = status
    }

    package init(_ error: BundleError, advice: (BundleError) -> [String] = \.advice) {
        self.init(
            code: error.code.rawValue, message: error.description, hints: advice(error), status: ExitStatus(error))
        further = error.further.map { CommandFailure($0, advice: advice) }
    }

    package var json: JSONValue {
        .members(["code": .string(code), "message": .string(message)])
    }
}

extension BundleError {
    /// The error as JSON: `{"code": …, "message": …}`, with `entry`, `file` and the errors found with it if there are any.
    package var json: JSONValue {
        .members([
            "code": .string(code.rawValue), "entry": .text(entry), "file": .text(file),
            "further": further.isEmpty ? nil : .array(further.map(\.json)), "message": .string(message),
        ])
    }
}

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
