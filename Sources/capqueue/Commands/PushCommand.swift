import ArgumentParser
import CaptureBundle
import CaptureQueue
import CommandSupport
import QueueFiles
import QueueModel

struct PushCommand: ManyNamesCommand {
    static let configuration = CommandConfiguration(
        commandName: "push",
        abstract: "Add bundles to the queue, which stores them until they are sent.",
        usage: """
            capqueue push FILE... [options]
            capqueue push - [options] < BUNDLE
            capqueue push --from0 [options] < NAMES
            """,
        discussion: """
            Each bundle is verified, copied and synced to the disk; then its id is printed, one a line. A bad bundle \
            gives the exit code of "capbundle verify", and the others are still added. If a capture is already in the \
            queue, its id is printed; if its bytes were deleted, they are stored again. If evict-uploaded is on and \
            the capture is uploaded, only --resend stores them again. With --json, there is a line for each bundle in \
            place of its id, also for one that was not added: it has the error.

            Nothing is sent until you add a destination and start "capqueue run". From a bundle to a server:
              capqueue push cap.bundle
              capqueue dest add api --kind http --url https://api.example --device-id $(cat id)
              capqueue run
            """,
        example: [
            "capbundle pack raw/ -o - | capqueue push -",
            "find captures -name '*.bundle' -print0 | capqueue push --from0 --move",
        ])

    @Argument(
        help: ArgumentHelp("Bundles; - reads one bundle from standard input.", valueName: "file"), completion: .file())
    var names: [String] = []

    @Flag(name: .customLong("from0"), help: "Read the names from standard input, each ended by NUL (find -print0).")
    var from0 = false

    @OptionGroup var push: PushOptionGroup

    @Flag(help: "Send delivered captures again: to --dest, or to all their destinations that are not retired.")
    var resend = false

    @Flag(help: "Delete each file once the queue has stored its bytes.")
    var move = false

    @Flag(help: "Store only the path and the hash of the file, not its bytes.")
    var reference = false

    @Flag(name: [.short, .long], help: "Print only warnings and errors on standard error.")
    var quiet = false

    @OptionGroup var format: JSONOption
    @OptionGroup var queue: QueueOptions

    func validate() throws {
        if from0 && !names.isEmpty { throw ValidationError("give either names or --from0, not both") }
        if !from0 && names.isEmpty { throw ValidationError("give at least one bundle (- for a pipe), or --from0") }
        if names.count(where: { $0 == "-" }) > 1 {
            throw ValidationError("- reads standard input, so it can be given only once")
        }
        if move && reference { throw ValidationError("--move deletes the file, but --reference needs it") }
        if reference && names.contains("-") { throw ValidationError("--reference needs a file; - is standard input") }
    }

    func run() throws {
        var options = try push.options()
        options.moves = move
        options.resends = resend
        options.isByReference = reference
        let output = PushReport(isQuiet: quiet, isJSON: format.json, requiresTrust: push.requireTrusted)
        try queue.with(createIfMissing: queue.folder.isDefault) { queue in
            let bundles = BundleNames(names, isList: from0, searchesFolders: false)
            try queue.push(next: bundles.next, options: options) { try output.add($0, $1) }
            output.finish(queue, namesDestination: !push.destinations.isEmpty)
        }
        if output.isEmpty {
            throw BundleError(.noNames, "no names were read; each name must end with NUL", file: "standard input")
        }
        if output.worst != .success { throw output.worst }
    }
}

struct PushOptionGroup: ParsableArguments {
    @Option(
        name: .customLong("dest"),
        help: ArgumentHelp(
            "Send the bundles to this destination; can be repeated.", discussion: "Default: the default destination.",
            valueName: "name"), completion: QueueCompletions.destinations)
    var destinations: [String] = []

    @Option("Add the captures to this session.", value: "name", completion: QueueCompletions.sessions)
    var session: String?

    @Flag(help: "Open the session again if it has ended.")
    var reopen = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("-10 to 10; untried captures of a higher one go first.", valueName: "n"))
    var priority = 0

    @Option("Do not send before this time: RFC 3339, or +2h.", value: "time")
    var notBefore: MomentArgument?

    @Flag(
        help: ArgumentHelp(
            "Refuse a bundle for which \"capbundle verify\" exits with 3 or 4.",
            discussion: "To refuse them always: capqueue config require-trusted yes."))
    var requireTrusted = false

    @Option("Warn when the spool is larger than this.", discussion: "Default: capqueue config warn-at.", value: "size")
    var warnAt: SizeArgument?

    @OptionGroup var trust: TrustOptions

    func validate() throws {
        if !Priority.range.contains(priority) { throw ValidationError("--priority is \(priority), expected -10 to 10") }
        if reopen && session == nil { throw ValidationError("--reopen needs --session NAME") }
    }

    func options() throws -> PushOptions {
        var options = PushOptions()
        options.destinations = destinations.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
        options.session = session
        options.reopensSession = reopen
        options.priority = priority
        switch notBefore {
        case .time(let time): options.notBefore = time
        case .span(let span): options.delay = span
        case nil: break
        }
        options.requiresTrust = requireTrusted
        options.warnAt = warnAt?.bytes
        options.trust = try trust.file(warn: diagnostic.warning)
        return options
    }
}

/// Prints the result for each bundle.
final class PushReport {
    private let isQuiet: Bool
    private let isJSON: Bool
    /// Whether the user asked to refuse what is not trusted. If not, only the queue's setting refuses it.
    private let requiresTrust: Bool
    private(set) var worst = ExitStatus.success
    private(set) var isEmpty = true
    private var hasTaken = false
    /// The files that an unknown device signed: the first, and how many.
    private var unknown: (first: String, count: Int)?
    private var hasWarnedOfTrust = false
    /// The hints that were printed. One that fits several bundles comes once.
    private var reported: Set<[UInt8]> = []

    init(isQuiet: Bool, isJSON: Bool, requiresTrust: Bool) {
        self.isQuiet = isQuiet
        self.isJSON = isJSON
        self.requiresTrust = requiresTrust
    }

    func add(_ file: String, _ result: Result<Pushed, any Error>) throws {
        isEmpty = false
        switch result {
        case .success(let pushed):
            try isJSON ? Output.json(pushed.json(file)) : Output.line(pushed.id)
            hasTaken = true
            if let fault = pushed.trustFault { add(fault, of: file) }
            if !isQuiet { for note in pushed.remarks { diagnostic.note("\(file): \(note)") } }
            if let warning = pushed.quotaWarning {
                diagnostic.warning(
                    "the spool holds \(Quantity.bytes(warning.usedBytes, on: .messages)), more than warn-at (\(ByteSize.text(warning.warnAt)))"
                )
            }
        case .failure(let error):
            let status = try reportFailure(advised(error)) { reported.insert(Array($0.utf8)).inserted }
            worst = ExitStatus.worst([worst, status])
            guard isJSON, let failure = CommandFailure(of: error) else { return }
            try Output.json(
                .members(["file": .string(file), "error": failure.json, "exit_code": .count(status.rawValue)]))
        }
    }
}

extension PushReport {
    private func advised(_ error: any Error) -> any Error {
        guard !requiresTrust, let fault = error as? BundleError,
            fault.verdict == .unknownDevice || fault.verdict == .unacceptable
        else { return error }
        var advised = fault
        advised.cause = .advised
        advised.values = [
            "the setting require-trusted refuses it; to print the setting: \(capqueue("config")) require-trusted"
        ]
        return advised
    }

    /// Reports a bundle that was stored although the trust file does not accept it.
    private func add(_ fault: BundleError, of file: String) {
        guard fault.verdict == .unacceptable else {
            unknown = (unknown?.first ?? file, (unknown?.count ?? 0) + 1)
            return
        }
        diagnostic.warning(
            "\(file): stored, but it is not acceptable: \(fault.message) [\(fault.code.rawValue)]",
            hints: hasWarnedOfTrust ? [] : ["refuse such bundles with: \(capqueue("config")) require-trusted yes"])
        hasWarnedOfTrust = true
    }

    /// Prints the notes that come once for all bundles.
    ///
    /// - Parameter namesDestination: whether the user gave `--dest`.
    func finish(_ queue: UploadQueue, namesDestination: Bool) {
        guard !isQuiet else { return }
        if let unknown {
            let others =
                unknown.count > 1 ? " and \(Quantity.count(unknown.count - 1, "other", on: .messages)) are" : " is"
            diagnostic.note("\(unknown.first)\(others) signed by a device that is not in the trust file")
        }
        // All that was printed is safe already, so a queue that cannot be read now is not an error of this command.
        guard hasTaken, !isJSON, !namesDestination, let destinations = try? queue.destinations.list(),
            let lack = NextSteps.beforeSending(destinations)
        else { return }
        diagnostic.note(lack.why, command: lack.command)
    }
}

extension Pushed {
    /// The notes with our commands and options.
    fileprivate var remarks: [String] {
        notes.map { note in [note.words, note.advice(id)].compactMap(\.self).joined(separator: "; ") }
    }

    fileprivate func json(_ file: String) -> JSONValue {
        .members([
            "id": .string(id), "file": .string(file), "outcome": .string(outcome.rawValue),
            "sha256": .text(sha256), "bytes": .integer(byteCount), "verdict": .string(verdict.word),
            "notes": notes.isEmpty ? nil : .texts(remarks),
        ])
    }
}
