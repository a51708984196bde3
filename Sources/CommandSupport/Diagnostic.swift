package import CaptureBundle

/// Words for people on standard error. The rules:
///
/// - `capbundle: error: FILE: what was found, what was expected`; then `capbundle: hint: …` lines that can be followed.
/// - Lower case, no full stop, one line each, names the file as the user wrote it.
/// - `warning` for what may be refused or leak, `note` for what one may want to know.
/// - Colour marks the word `error` or `warning` on a terminal, and nothing else.
/// - Positions never appear here. Control characters from files are made visible.
package struct Diagnostic: Sendable {
    private let tool: String

    package init(tool: String) { self.tool = tool }

    package func error(_ error: BundleError) {
        say("error", error.description)
        hint(error.hints)
    }

    package func error(_ failure: CommandFailure) {
        say("error", failure.message)
        hint(failure.hints)
    }

    /// A hint that cannot be shown as it is would be a command on a file of another name.
    private func hint(_ hints: [String]) {
        for hint in hints where Visible.text(hint) == hint { say("hint", hint) }
    }

    package func usage(_ message: String, hint: String) {
        say("error", message)
        say("hint", hint)
    }

    package func remark(_ remark: Remark) {
        say(remark.weight.rawValue, "\(remark.file): \(remark.message)")
    }

    package func warning(_ text: String) { say("warning", text) }

    package func warning(_ error: BundleError) {
        warning(error.description)
        hint(error.hints)
    }

    package func note(_ text: String) { say("note", text) }

    /// A note that ends with a command, left out where the command cannot be shown as it is.
    package func note(_ text: String, command: String) {
        if Visible.text(command) == command { note("\(text): \(command)") }
    }

    private func say(_ kind: String, _ text: String) {
        let style: Style? = kind == "error" ? .bad : kind == "warning" ? .doubtful : nil
        Output.tell("\(tool): \(style?.message(kind) ?? kind): \(Visible.text(text))")
    }
}

/// An error in words, with the exit code that it gives.
package struct CommandFailure: Sendable {
    package let code: String
    package let message: String
    package let hints: [String]
    package let status: ExitStatus

    package init(code: String, message: String, hints: [String], status: ExitStatus) {
        self.code = code
        self.message = message
        self.hints = hints
        self.status = status
    }

    package init(_ error: BundleError) {
        self.init(code: error.code.rawValue, message: error.description, hints: error.hints, status: ExitStatus(error))
    }

    package var json: JSONValue {
        .members(["code": .string(code), "message": .string(message)])
    }
}

extension BundleError {
    /// `{"code": …, "message": …}`, with the entry where it is about one.
    package var json: JSONValue {
        .members([
            "code": .string(code.rawValue), "entry": entry.map { .string($0) }, "file": file.map { .string($0) },
            "message": .string(message),
        ])
    }
}
