import ArgumentParser
import CaptureQueue
import CommandSupport
import QueueModel
import SystemPackage

struct ListCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List captures, newest first.",
        usage: "capqueue list [options]",
        discussion: """
            On a terminal the columns fit its width and ids are short; in a pipe ids are complete. Columns: id, state, \
            when it was pushed, bytes, attempts, destination, session.
            """,
        example: [
            "capqueue list --state failed,permanently_failed",
            "capqueue list --limit 50 --after 38ca8c35",
            "capqueue list --json",
        ],
        aliases: ["ls"])

    @OptionGroup var filter: FilterOptions

    @Option("Only captures for this destination.", value: "name", completion: QueueCompletions.destinations)
    var dest: String?

    @Option("Print at most this many captures.", value: "n")
    var limit: Int?

    @Option("Only captures that were pushed before this one.", value: "id", completion: QueueCompletions.ids)
    var after: String?

    @OptionGroup var format: JSONOption
    @OptionGroup var queue: QueueOptions

    func validate() throws {
        if let limit, limit < 1 { throw ValidationError("--limit is \(limit), expected 1 or more") }
    }

    func run() throws {
        let output = try TextOutput()
        var chosen = filter.filter
        chosen.destination = dest
        var count = 0
        let columns = CaptureColumns()
        try queue.with { queue in
            try queue.captures.list(chosen, after: after, limit: limit) { record in
                if format.json {
                    try output.line(Output.jsonText(record.json(path: queue.captures.path(of: record)?.string)))
                } else {
                    if count == 0, let header = columns.header { try output.line(header) }
                    try output.line(columns.line(record))
                }
                count += 1
                return true
            }
        }
        try output.finish()
        if count == 0 && Output.isTerminal && !format.json { diagnostic.note("no captures") }
    }
}
