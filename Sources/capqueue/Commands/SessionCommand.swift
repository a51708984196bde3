import ArgumentParser
import CaptureBundle
import CaptureQueue
import CommandSupport
import QueueModel

struct SessionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "session",
        abstract: "End a session of captures, or list sessions.",
        discussion: "A session is opened by \"capqueue push --session NAME\".",
        example: ["capqueue session end monday", "capqueue session list"],
        subcommands: [End.self, List.self])

    struct End: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "end",
            abstract: "End a session: it takes no more captures, and is due once all of them have landed.",
            example: ["capqueue session end monday"])

        @Argument(help: "The session's name.", completion: QueueCompletions.sessions)
        var name: String

        @Flag(help: "Count captures that failed or were cancelled as landed.")
        var incomplete = false

        @OptionGroup var queue: QueueOptions

        func run() throws {
            let session = try queue.with(changes: true) { try $0.sessions.end(name, isIncomplete: incomplete) }
            let left = session.unlanded
            diagnostic.note(
                left == 0
                    ? session.landed == session.count
                        ? "\(name) has ended, and all of it has landed"
                        : "\(name) has ended with \(session.landed) of \(session.count) landed"
                    : "\(name) has ended; not landed yet: \(left) of \(Quantity.count(session.count, "capture", on: .messages))"
            )
        }
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List sessions, and how many of their captures have landed.",
            example: ["capqueue session list"],
            aliases: ["ls"])

        @OptionGroup var format: JSONOption
        @OptionGroup var queue: QueueOptions

        func run() throws {
            let sessions = try queue.with { try $0.sessions.list() }
            if format.json { return try sessions.forEach { try Output.json($0.json) } }
            if sessions.isEmpty {
                diagnostic.note("there is no session; open one with: \(capqueue("push")) --session NAME FILE")
            }
            var table = TextTable()
            for session in sessions {
                let phase = session.isDue ? session.isTold ? "told" : "due" : session.endedAt == nil ? "open" : "ended"
                table.add(session.name, phase, "\(session.landed) of \(session.count) landed")
            }
            for line in table.lines(within: Output.columns) { try Output.line(line) }
        }
    }
}

extension Session {
    fileprivate var json: JSONValue {
        .members([
            "name": .string(name), "opened_at": .text(openedAt), "ended_at": .text(endedAt),
            "incomplete": .bool(isIncomplete), "due": .bool(isDue), "told": .bool(isTold), "captures": .integer(count),
            "landed": .integer(landed),
        ])
    }
}
