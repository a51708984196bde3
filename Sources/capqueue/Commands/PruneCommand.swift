import ArgumentParser
import CaptureBundle
import CaptureQueue
import CommandSupport
import QueueModel

struct PruneCommand: ManyNamesCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune",
        abstract: "Delete bundles that were uploaded long enough ago.",
        usage: """
            capqueue prune [options]
            capqueue prune --cancelled ID... [options]
            """,
        discussion: """
            Deletes bundles that every destination has, with a receipt, once 7 days have passed since the last upload \
            and since the bytes were stored (capqueue config retention). Bundles of which only the photo was uploaded \
            stay, unless --accept-parts is given, and so do bundles whose copy in a folder may be lost; cancelled bundles are deleted only with --cancelled. The queue keeps \
            states, hashes and receipts. Prints the ids.
            """,
        example: ["capqueue prune --dry-run", "capqueue prune --older-than 1d", "capqueue prune --cancelled"])

    @Option(
        "Delete bundles that were uploaded longer ago than this.", discussion: "Default: capqueue config retention.",
        value: "age")
    var olderThan: Duration?

    @Argument(
        help: ArgumentHelp(
            "With --cancelled: delete these captures and no others; - reads ids from standard input.", valueName: "id"),
        completion: QueueCompletions.ids)
    var names: [String] = []

    @Flag(help: "Also delete cancelled bundles, whatever their age.")
    var cancelled = false

    @Flag(help: "Also delete bundles of which only a part, such as the photo, was uploaded.")
    var acceptParts = false

    @Flag(help: "Also delete bundles whose copies you have moved out of their folder (status --check names them).")
    var acceptAbsent = false

    @Flag(help: "Print what would be deleted, and delete nothing.")
    var dryRun = false

    @Flag(help: "Trust the current clock despite earlier readings; nothing waits because of them any more.")
    var acceptClock = false

    @Flag(name: [.short, .long], help: "Print no ids, and only warnings and errors on standard error.")
    var quiet = false

    @OptionGroup var format: JSONOption
    @OptionGroup var queue: QueueOptions

    func validate() throws {
        if !names.isEmpty && !cancelled { throw ValidationError("ids need --cancelled") }
        if !names.isEmpty && (olderThan != nil || acceptParts || acceptAbsent) {
            throw ValidationError("with ids, give none of --older-than, --accept-parts and --accept-absent")
        }
        try names.requireOneSource()
        if acceptClock && dryRun { throw ValidationError("give either --accept-clock or --dry-run") }
    }

    func run() throws {
        var options = PruneOptions()
        options.olderThan = olderThan
        options.includesCancelled = cancelled
        options.acceptsParts = acceptParts
        options.acceptsAbsent = acceptAbsent
        if !names.isEmpty { options.only = try names.given() }
        options.isDryRun = dryRun
        let output = try TextOutput()
        let result = try queue.with(changes: true) { queue in
            if acceptClock { try queue.upkeep.acceptClock() }
            return try queue.upkeep.prune(options) { id, bytes in
                if quiet { return }
                try output.line(
                    format.json ? Output.jsonText(.members(["id": .string(id), "bytes": .integer(bytes)])) : id)
            }
        }
        try output.finish()
        if let doubt = result.clockDoubt {
            diagnostic.warning(
                "the clock differs by \(doubt.words) from the expected time; deletion is delayed because of that"
            )
            if !acceptClock { diagnostic.note("if the clock is correct now: \(capqueue("prune")) --accept-clock") }
        }
        if result.unseenCopies > 0, !quiet {
            let captures = Quantity.count(result.unseenCopies, "capture", on: .messages)
            diagnostic.note(
                "\(captures) of release 1.0 stay until capqueue run has looked at the copies in their folder")
        }
        for one in result.inDoubt where !quiet {
            diagnostic.note(
                "\(one.id) was cancelled while it was sent; \(one.destinations.joined(separator: ", ")) may have it")
        }
        let what =
            "\(Quantity.count(result.captures, "bundle", on: .messages)), \(Quantity.bytes(result.bytes, on: .messages))"
        for failure in result.failures { _ = try reportFailure(failure) }
        let isEarly = result.captures == 0 && names.isEmpty && result.clockDoubt == nil
        let next =
            isEarly ? result.nextDue.map { "; the next one is due in \(($0 + .milliseconds(59_999)).words)" } : nil
        if !quiet { diagnostic.note((dryRun ? "would delete " : "deleted ") + what + (next ?? "")) }
        let worst = ExitStatus.worst(try result.refused.map { try reportFailure($0) })
        if !result.failures.isEmpty { throw ExitStatus.inputOutput }
        if worst != .success { throw worst }
    }
}
