import ArgumentParser
import CaptureBundle
import CaptureQueue
import CommandSupport

struct PruneCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune",
        abstract: "Let go of bytes that were uploaded long enough ago.",
        usage: """
            capqueue prune [options]
            capqueue prune --cancelled ID... [options]
            """,
        discussion: """
            Deletes bundles that every destination has, with a receipt, once 7 days have passed since the last upload \
            and since the bytes were stored (capqueue config retention). Bundles of which only the photo was delivered \
            stay, unless --accept-parts is given; cancelled ones go only with --cancelled. Rows, hashes and receipts \
            stay. Prints the ids.

            Example:
              capqueue prune --dry-run
              capqueue prune --older-than 1d
              capqueue prune --cancelled
            """)

    @Option(
        help: ArgumentHelp(
            "How long ago the upload must be.", discussion: "Default: capqueue config retention.", valueName: "age"))
    var olderThan: AgeArgument?

    @Argument(
        help: ArgumentHelp(
            "With --cancelled: delete these captures and no others; - reads ids from standard input.", valueName: "id"),
        completion: QueueCompletions.ids)
    var ids: [String] = []

    @Flag(help: "Delete what was cancelled too, whatever its age.")
    var cancelled = false

    @Flag(help: "Delete also bundles of which only a part, the photo say, was delivered.")
    var acceptParts = false

    @Flag(help: "Print what would go, and delete nothing.")
    var dryRun = false

    @Flag(help: "Trust the current clock despite earlier readings.")
    var acceptClock = false

    @Flag(name: [.short, .long], help: "Print no ids, and nothing on standard error but warnings and errors.")
    var quiet = false

    @OptionGroup var format: JSONOption
    @OptionGroup var queue: QueueOptions

    func validate() throws {
        if !ids.isEmpty && !cancelled { throw ValidationError("ids need --cancelled") }
        if !ids.isEmpty && (olderThan != nil || acceptParts) {
            throw ValidationError("with ids, give neither --older-than nor --accept-parts")
        }
        if ids.contains("-") && ids.count > 1 {
            throw ValidationError("- reads all ids from standard input; give it alone")
        }
        if acceptClock && dryRun { throw ValidationError("--accept-clock changes something, --dry-run does not") }
    }

    func run() throws {
        var options = PruneOptions()
        options.olderThan = olderThan?.age
        options.includesCancelled = cancelled
        options.acceptsParts = acceptParts
        if !ids.isEmpty { options.only = ids == ["-"] ? try LineList.read() : ids }
        options.isDryRun = dryRun
        let output = OutputBuffer()
        let result = try queue.with(changes: true) { queue in
            if acceptClock { try queue.acceptClock() }
            return try queue.prune(options) { id, bytes in
                if quiet { return }
                try output.line(
                    format.json ? Output.jsonText(.members(["id": .string(id), "bytes": .integer(bytes)])) : id)
            }
        }
        try output.flush()
        if let doubt = result.clockDoubt {
            diagnostic.warning(
                "the clock differs by \(Moment.age(doubt)) from the expected time; nothing is deleted early because of that"
            )
            if !acceptClock { diagnostic.note("if the clock is right now: capqueue prune --accept-clock") }
        }
        let what =
            "\(Quantity.count(result.captures, "bundle", on: .messages)), \(Quantity.bytes(result.bytes, on: .messages))"
        for failure in result.failures { _ = try tell(failure) }
        if !quiet { diagnostic.note(dryRun ? "would let go of \(what)" : "let go of \(what)") }
        let worst = ExitStatus.worst(try result.refused.map { try tell($0) })
        if !result.failures.isEmpty { throw ExitStatus.inputOutput }
        if worst != .success { throw worst }
    }
}
