import ArgumentParser
import CaptureBundle
import CaptureNative
import CaptureQueue
import CommandSupport
import QueueModel
import Synchronization

struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Send what is due.",
        usage: "capqueue run [--once | --until-empty | --watch] [options]",
        discussion: """
            Prints the id, the destination and the new state of each capture, one a line, or events with --json; on a \
            terminal also how far each transfer is. ^C and SIGTERM let transfers end for --grace; a second ^C stops \
            them. What was not sent stays for the next run. Exit codes: 0 nothing is left to send, 15 something is \
            left (it waits for a retry or a server, or needs you: status --check says what), 14 something failed for \
            good, 10 another run owns the queue.
            """,
        example: [
            "capqueue dest add office --kind put --url https://office.example/in/{sha256}",
            "capqueue run --until-empty",
            "capqueue run --watch --json >> events.jsonl",
        ])

    @Flag(help: "Send what is due now, then stop; the default.")
    var once = false

    @Flag(help: "Stop when everything is sent, ignoring captures that need a decision from you.")
    var untilEmpty = false

    @Flag(help: "Keep running, as a service.")
    var watch = false

    @Option("Send only to this destination.", value: "name", completion: QueueCompletions.destinations)
    var dest: String?

    @Option("Send at most this many bytes a second in all, such as 2MB.", value: "bytes")
    var bwlimit: SizeArgument?

    @Option("Start no transfers after this time.", value: "age")
    var maxDuration: Duration?

    @Option("How long transfers may continue after SIGTERM; default 10s.", value: "age")
    var grace: Duration?

    @Option(
        "Run this shell command for completions, failures, blocked destinations and the quota.",
        discussion: "It gets the event as JSON on its standard input, and has 30 s.", value: "command")
    var onEvent: String?

    @Option(
        "Keep this page up to date, as \"capqueue report\" writes it.",
        discussion: "It is written when something changes, at most every 5 s, and at the end.", value: "file",
        completion: .file(extensions: ["html"]))
    var page: String?

    @Flag(name: .shortAndLong, help: "Print nothing but errors.")
    var quiet = false

    @OptionGroup var format: JSONOption
    @OptionGroup var queue: QueueOptions

    func validate() throws {
        if [once, untilEmpty, watch].count(where: { $0 }) > 1 {
            throw ValidationError("give one of --once, --until-empty and --watch")
        }
        if quiet && format.json { throw ValidationError("give either --quiet or --json") }
        if bwlimit?.bytes == 0 { throw ValidationError("--bwlimit 0 would send nothing") }
        if page == "" || page == "-" { throw ValidationError("--page needs the name of a file") }
        if onEvent == "" { throw ValidationError("--on-event is empty, expected a shell command") }
    }

    private func options(for queue: UploadQueue) throws -> RunOptions {
        var options = RunOptions()
        options.mode = watch ? .watch : untilEmpty ? .untilEmpty : .once
        options.destination = dest
        options.bytesPerSecond = bwlimit?.bytes
        options.longest = maxDuration
        if let grace { options.grace = grace }
        if try queue.settings().inbox != nil {
            options.trust = try Environment.trustFile(nil, warn: diagnostic.warning)
        }
        return options
    }

    func run() throws {
        let exit = try queue.with(changes: true) { queue in
            let pausesTold = try noteDestinations(queue)
            let stopped = Mutex<Int32?>(nil)
            let options = try options(for: queue)
            let kinds = try queue.destinations.list().reduce(into: [String: String]()) { $0[$1.name] = $1.kind }
            let screen = RunScreen(
                style: quiet ? .quiet : format.json ? .json : .lines, mode: options.mode, kinds: kinds,
                pausesTold: pausesTold)
            let hook = onEvent.map { command in EventHook(command) { screen.warn("--on-event: \($0)") } }
            let keeper = try page.map { page throws(BundleError) in
                try PageKeeper(queue, at: page) { screen.warn("--page \(page): \($0)") }
            }
            let run = QueueRun(queue, options) { event in
                screen.show(event)
                hook?.handle(event)
                keeper?.markChanged()
            }
            StopSignals.watch { number in
                let isAgain = stopped.withLock { first in
                    defer { first = first ?? number }
                    return first != nil
                }
                screen.showStop(
                    number, run.transfers.count, grace: isAgain ? .zero : options.grace,
                    isAgain: isAgain)
                run.stop()
            }
            hook?.start()
            keeper?.start()
            defer { keeper?.finish(isHurried: true) }
            let (name, isOnce) = (dest, options.mode == .once)
            screen.watch(run) { try? queue.destinations.backlog(of: name, isDueNow: isOnce) }
            defer { screen.end() }
            let result = Result { try run.perform() }
            hook?.finish { run.isStopped }
            _ = try result.get()
            keeper?.finish(isHurried: run.isStopped)
            screen.end()
            try screen.requireWritten()
            if let status = try? queue.status() { screen.showSummary(status) }
            if let number = stopped.withLock(\.self) {
                queue.close()
                StopSignals.end(by: number)
            }
            return try exitStatus(queue, screen)
        }
        if exit != .success { throw exit }
    }

    /// What is left when the run ends: what needs a person, and what waits. The size of the spool, and whether the disk
    /// suits a queue, are not the run's affair.
    private func exitStatus(_ queue: UploadQueue, _ screen: RunScreen) throws -> ExitStatus {
        let status = try queue.status()
        let chosen = status.work.filter { dest == nil || $0.destination?.name == dest }
        let waits = try chosen.contains { $0.backlog.captures > 0 } || queue.sessions.hasUntold(destination: dest)
        let found = status.concerns(of: dest).filter {
            $0.status != .overMark && ![.readOnlyDisk, .unencryptedDisk, .fat, .noJournal, .apart].contains($0.code)
        }
        if !quiet {
            for concern in found where !Self.reportedAtStart.contains(concern.code) && !screen.hasShown(concern) {
                diagnostic.note(concern.line(status))
            }
            noteBlocks(chosen, but: found.filter { $0.code == .blocked }, screen)
        }
        return ExitStatus.worst(found.map(\.status) + (waits ? [.workLeft] : []))
    }

    /// Names the blocks of earlier runs that this run obeyed: it had no event for them.
    private func noteBlocks(_ work: [DestinationWork], but told: [QueueConcern], _ screen: RunScreen) {
        let now = CaptureTime(clamping: Environment.now)
        for case (let backlog, .some(let destination)) in work.map({ ($0.backlog, $0.destination) }) {
            guard backlog.captures > 0, !told.contains(where: { $0.destination == destination.name }),
                let block = destination.block, let until = block.until, until > now,
                !screen.hasShownBlock(of: destination.name)
            else { continue }
            diagnostic.note("\(destination.name) is blocked \(block.words)")
        }
    }

    /// What `noteDestinations` says before anything is sent.
    private static let reportedAtStart: Set<QueueConcern.Code> = [.unassigned, .destinationPaused, .queuePaused]

    /// - Returns: the destinations whose pause is said; an empty name for the whole queue.
    private func noteDestinations(_ queue: UploadQueue) throws -> [String: Bool] {
        var paused: [String: Bool] = [:]
        if let dest { _ = try queue.destinations.find(dest) }
        let known = try queue.destinations.list()
        if let lack = NextSteps.beforeSending(known) { diagnostic.note(lack.why, command: lack.command) }
        if try queue.destinations.arePaused() {
            paused[""] = true
            notePause(of: nil)
        }
        for destination in known where destination.isPaused {
            paused[destination.name] = true
            notePause(of: destination.name)
        }
        return paused
    }
}

struct PauseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Start no more transfers until resume.",
        discussion: "The pause also applies to later runs. Transfers under way continue, unless --now is given.",
        example: ["capqueue pause --now", "capqueue pause --dest office"])

    @Flag(help: "Also stop the transfers under way; no attempt is counted for them.")
    var now = false

    @Option("Only this destination.", value: "name", completion: QueueCompletions.destinations)
    var dest: String?

    @OptionGroup var queue: QueueOptions

    func run() throws {
        try queue.with(changes: true) { try $0.destinations.pause(dest, isAtOnce: now) }
        notePause(of: dest)
    }
}

/// Says that a destination is paused; nil for the whole queue.
func notePause(of dest: String?) {
    diagnostic.note(
        "\(dest ?? "the queue") is paused; resume it with: \(capqueue("resume"))"
            + (dest.map { " --dest \($0)" } ?? ""))
}

struct ResumeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Resume sending, and try blocked destinations at once.",
        example: ["capqueue resume", "capqueue resume --dest office"])

    @Option("Only this destination.", value: "name", completion: QueueCompletions.destinations)
    var dest: String?

    @OptionGroup var queue: QueueOptions

    func run() throws {
        try queue.with(changes: true) { try $0.destinations.resume(dest) }
        diagnostic.note("\(dest ?? "the queue") is resumed")
    }
}
