import ArgumentParser
import CaptureQueue
import CommandSupport
import QueueFiles
import QueueModel
import SystemPackage

struct ShowCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Print all that the queue knows about a capture.",
        example: ["capqueue show 38ca8c35", "capqueue show --json 38ca8c35"],
        aliases: ["inspect"])

    @Argument(help: "An id, or the beginning of an id.", completion: QueueCompletions.ids)
    var id: String

    @OptionGroup var format: JSONOption
    @OptionGroup var queue: QueueOptions

    func run() throws {
        try queue.with { queue in
            let record = try queue.captures.find(id)
            let path = queue.captures.path(of: record)?.string
            if format.json { return try Output.json(record.json(path: path)) }
            for line in record.page(path: path) { try Output.line(line) }
        }
    }
}

struct HistoryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Print what happened to a capture: changes of its state, and attempts.",
        example: ["capqueue history 38ca8c35"])

    @Argument(help: "An id, or the beginning of an id.", completion: QueueCompletions.ids)
    var id: String

    @OptionGroup var format: JSONOption
    @OptionGroup var queue: QueueOptions

    func run() throws {
        try queue.with { queue in
            for event in try queue.captures.history(of: queue.captures.find(id)) {
                try format.json ? Output.json(event.json) : Output.line(event.line)
            }
        }
    }
}

struct GetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get",
        abstract: "Write a bundle to a file, after comparing its bytes with its hash.",
        discussion: "If the queue has deleted the bundle, it is fetched from a destination of kind folder, put or s3.",
        example: ["capqueue get 38ca8c35 -o cap.bundle", "capqueue get 38ca8c35 -o - | capbundle verify -"])

    @Argument(help: "An id, or the beginning of an id.", completion: QueueCompletions.ids)
    var id: String

    @Option(
        name: [.short, .long], help: ArgumentHelp("The file to write, or - for a pipe.", valueName: "file"),
        completion: .file())
    var output: String

    @Flag(help: "Do not fetch a deleted bundle from the destinations.")
    var local = false

    @OptionGroup var force: ForceOption
    @OptionGroup var queue: QueueOptions

    func validate() throws { try refuseTerminal(output, "a bundle") }

    func run() throws {
        try queue.with { queue in
            let record = try queue.captures.find(id)
            let place = try force.place(output, besides: queue.folder.files)
            do {
                try queue.captures.get(record, to: place)
            } catch let error as QueueError
                where error.code == .bytesAbsent && !local
                && record.deliveries.contains(where: { $0.state == .completed && $0.destination != nil })
            {
                let name = try queue.captures.fetch(record, to: place)
                diagnostic.note("\(record.id) was fetched from \(name)")
            }
        }
    }
}
