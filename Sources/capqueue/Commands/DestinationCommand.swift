import ArgumentParser
import CaptureBundle
import CaptureQueue
import CommandSupport

struct DestinationCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dest",
        abstract: "Name the places that captures go to.",
        discussion: """
            Example:
              capqueue dest add nas --kind folder --path /mnt/nas/captures
              capqueue push cap.bundle --dest nas
            """,
        subcommands: [Add.self, List.self, Show.self, Remove.self, Default.self])

    struct Add: ParsableCommand {
        enum Kind: String, ExpressibleByArgument, CaseIterable { case folder }

        static let configuration = CommandConfiguration(
            commandName: "add",
            abstract: "Name a destination; the first one is the default.",
            discussion: """
                folder: a folder on a mounted disk. It is marked with a small file, so that an empty mount point is not taken \
                for it.

                Example:
                  capqueue dest add nas --kind folder --path /mnt/nas/captures
                """)

        @Argument(help: "Its name: A-Z a-z 0-9 . _ -")
        var name: String

        @Option(help: "folder")
        var kind: Kind

        @Option(help: ArgumentHelp("The folder.", valueName: "dir"), completion: .directory)
        var path: String

        @OptionGroup var queue: QueueOptions

        func run() throws {
            try queue.with(isMade: true) { queue in
                try queue.addFolder(name, path: path)
                let isDefault = try queue.destination(name).isDefault
                diagnostic.note("added \(name)\(isDefault ? ", the default destination" : "")")
            }
        }
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List destinations.",
            discussion: """
                Example:
                  capqueue dest list
                """)

        @OptionGroup var format: JSONOption
        @OptionGroup var queue: QueueOptions

        func run() throws {
            let destinations = try queue.with { try $0.destinations() }
            if format.json {
                for destination in destinations { try Output.json(destination.json) }
                return
            }
            var table = TextTable()
            for destination in destinations {
                table.add(
                    destination.name, destination.isDefault ? "default" : "", destination.kind,
                    Visible.text(destination.settings["path"] ?? ""))
            }
            for line in table.lines { try Output.line(line) }
        }
    }

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Print a destination's settings.",
            discussion: """
                Example:
                  capqueue dest show nas
                """)

        @Argument(help: "Its name.")
        var name: String

        @OptionGroup var format: JSONOption
        @OptionGroup var queue: QueueOptions

        func run() throws {
            let destination = try queue.with { try $0.destination(name) }
            if format.json { return try Output.json(destination.json) }
            var table = TextTable()
            table.add("kind", destination.kind)
            if destination.isDefault { table.add("default", "yes") }
            for (key, value) in destination.settings.sorted(by: { $0.key < $1.key }) {
                table.add(key, Visible.text(value))
            }
            for line in [name] + table.lines { try Output.line(line) }
        }
    }

    struct Remove: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: "Forget a destination that no capture names.",
            discussion: """
                Example:
                  capqueue dest remove nas
                """)

        @Argument(help: "Its name.")
        var name: String

        @OptionGroup var queue: QueueOptions

        func run() throws { try queue.with { try $0.removeDestination(name) } }
    }

    struct Default: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "default",
            abstract: "Print or set the destination for captures that name none.",
            discussion: """
                Example:
                  capqueue dest default nas
                """)

        @Argument(help: "The new default.")
        var name: String?

        @OptionGroup var queue: QueueOptions

        func run() throws {
            try queue.with { queue in
                if let name { return try queue.setDefaultDestination(name) }
                if let current = try queue.destinations().first(where: \.isDefault) { try Output.line(current.name) }
            }
        }
    }
}

extension Destination {
    fileprivate var json: JSONValue {
        .members([
            "name": .string(name), "kind": .string(kind), "default": .bool(isDefault),
            "settings": .object(settings.map { .init($0.key, .string($0.value)) }),
            "added_at": .string(Moment.text(addedAt)),
        ])
    }
}
