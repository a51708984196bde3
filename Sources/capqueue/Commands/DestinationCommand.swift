import ArgumentParser
import CaptureBundle
import CaptureQueue
import CommandSupport
import QueueModel
import QueueTransports

struct DestinationCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dest",
        abstract: "Manage the destinations that captures are sent to.",
        example: [
            "capqueue dest add nas --kind folder --path /mnt/nas/captures",
            "capqueue push cap.bundle --dest nas",
        ],
        subcommands: [
            Add.self, Set.self, Test.self, List.self, Show.self, Rename.self, Retire.self, Remove.self, Default.self,
        ])

    struct Add: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add",
            abstract: "Add a destination; the first one becomes the default.",
            usage: "capqueue dest add NAME --kind KIND [options]",
            discussion: """
                folder: a folder on a mounted disk, marked with a small file, so that an empty mount point is not \
                mistaken for it. http: a server of the capture API. put: PUT to a presigned or plain URL. s3: an \
                S3-compatible store. Its keys are AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY of the process that \
                sends, or else in ~/.aws/credentials of its user. A service has its own environment and user.
                """,
            example: [
                "capqueue dest add nas --kind folder --path /mnt/nas/captures",
                "capqueue dest add api --kind http --url https://api.example \\",
                "  --device-id $(cat id)",
                "capqueue dest add office --kind put --url https://office.example/in/{sha256}",
                "capqueue dest add store --kind s3 --url https://s3.example/bucket",
            ])

        @Argument(help: "Its name: A-Z a-z 0-9 . _ -")
        var name: String

        @Option(help: "folder, http, put or s3.")
        var kind: KindArgument?

        @OptionGroup var options: DestinationOptions
        @OptionGroup var queue: QueueOptions

        private func chosenKind() throws -> Destination.Kind {
            let kinds = "expected folder, http, put or s3"
            guard let kind else {
                throw ValidationError(
                    "--kind is missing, \(kinds), for example: \(capqueue("dest add")) \(name) --kind folder --path DIR"
                )
            }
            guard let known = Destination.Kind(rawValue: kind.text) else {
                throw ValidationError(
                    "--kind \(kind.text): \(kinds)" + (kind.text == "https" ? "; http also sends to https:// URLs" : "")
                )
            }
            return known
        }

        func validate() throws { _ = try chosenKind() }

        func run() throws {
            // Check before a queue is made.
            let settings = try DestinationSettings(chosenKind(), options.given, of: name).examined(of: name)
            try queue.with(createIfMissing: true) { queue in
                try queue.destinations.add(name, settings)
                let destination = try queue.destinations.find(name)
                diagnostic.note("added \(name)\(destination.isDefault ? ", the default destination" : "")")
                destination.diskNote.map { diagnostic.note($0) }
                if destination.mayReplaceOthers {
                    diagnostic.warning(
                        "\(name): this file system can neither link nor rename without replacing, so another program that "
                            + "stores a file under the same name at the same moment is not kept out")
                }
                for fault in destination.openSecrets { diagnostic.warning(fault) }
            }
            options.keyFault.map(diagnostic.warning)
        }
    }

    struct Set: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "set",
            abstract: "Change settings of a destination.",
            usage: "capqueue dest set NAME [options]",
            discussion: """
                An empty value removes a setting. --path of a folder destination is for a disk that is mounted elsewhere: \
                the new path must have the file .capqueue-destination that dest add wrote. A block on the destination is lifted, so that it is tried at once.
                """,
            example: ["capqueue dest set office --token-file /etc/capqueue/token --jitter ''"])

        @Argument(help: "Its name.", completion: QueueCompletions.destinations)
        var name: String

        /// Is refused: the message says how to get a destination of another kind.
        @Option(help: .hidden)
        var kind: String?

        @OptionGroup var options: DestinationOptions
        @OptionGroup var queue: QueueOptions

        func run() throws {
            if let kind {
                throw QueueError(
                    .valueInvalid, "the kind of a destination cannot be changed", of: name, cause: .kind, values: [kind]
                )
            }
            guard !options.given.isEmpty else { throw ValidationError("give a setting to change") }
            try queue.with(changes: true) { queue in
                try queue.destinations.change(name) { try $0.set(options.given.mapValues { $0.isEmpty ? nil : $0 }) }
                for fault in try queue.destinations.find(name).openSecrets { diagnostic.warning(fault) }
                diagnostic.note("changed \(name)")
            }
            options.keyFault.map(diagnostic.warning)
        }
    }

    struct Test: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "test",
            abstract: "Test whether a destination can be used, without sending a capture.",
            discussion: """
                Exit codes: 0 usable, 15 unreachable (such as no network), 78 misconfigured (credentials, URL, TLS).
                """,
            example: ["capqueue dest test office"])

        @Argument(help: "Its name.", completion: QueueCompletions.destinations)
        var name: String

        @OptionGroup var format: JSONOption
        @OptionGroup var queue: QueueOptions

        func run() throws {
            let (found, destination, isQueuePaused) = try queue.with { queue in
                let destination = try queue.destinations.find(name)
                for fault in destination.openSecrets { diagnostic.warning(fault) }
                return (try queue.destinations.test(name), destination, try queue.destinations.arePaused())
            }
            let status = found.block.map { $0.needsUser ? ExitStatus.configuration : .workLeft } ?? .success
            if format.json {
                try Output.json(
                    .members([
                        "name": .string(name), "findings": .array(found.findings.map { .string($0) }),
                        "blocked": found.block?.json, "exit_code": .integer(Int(status.rawValue)),
                    ]))
            } else {
                for text in found.findings { try Output.line(Visible.text(text)) }
            }
            guard let block = found.block else {
                if isQueuePaused { notePause(of: nil) }
                if destination.isPaused { notePause(of: name) }
                let now = CaptureTime(clamping: Environment.now)
                if let block = destination.block, block.until.map({ $0 > now }) ?? true {
                    diagnostic.note(
                        "\(name) is usable, but the queue still has it blocked \(block.words)",
                        hints: ["lift the block with: \(capqueue("resume")) --dest \(name)"])
                }
                return
            }
            diagnostic.warning(
                "\(name): \(block.message)",
                hints: NextSteps.ofTest(block, name, kind: destination.kind))
            throw status
        }
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List destinations.",
            example: ["capqueue dest list"],
            aliases: ["ls"])

        @OptionGroup var format: JSONOption
        @OptionGroup var queue: QueueOptions

        func run() throws {
            let destinations = try queue.with { try $0.destinations.list() }
            if format.json { return try destinations.forEach { try Output.json($0.json) } }
            if destinations.isEmpty, let lack = NextSteps.beforeSending([]) {
                diagnostic.note(lack.why, command: lack.command)
            }
            var table = TextTable()
            for destination in destinations {
                table.add(
                    destination.name, destination.isDefault ? "default" : destination.isRetired ? "retired" : "",
                    destination.kind,
                    Visible.text(destination.place))
            }
            for line in table.lines(within: Output.columns) { try Output.line(line) }
        }
    }

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Print a destination's settings.",
            example: ["capqueue dest show nas"],
            aliases: ["inspect"])

        @Argument(help: "Its name.", completion: QueueCompletions.destinations)
        var name: String

        @OptionGroup var format: JSONOption
        @OptionGroup var queue: QueueOptions

        func run() throws {
            let destination = try queue.with { try $0.destinations.find(name) }
            if format.json { return try Output.json(destination.json) }
            var table = TextTable()
            table.add("kind", destination.kind)
            if destination.isDefault { table.add("default", "yes") }
            if destination.isRetired { table.add("retired", "yes; it takes no further captures") }
            if !destination.formerNames.isEmpty {
                table.add("formerly", destination.formerNames.joined(separator: ", "))
            }
            if destination.isPaused { table.add("paused", "yes") }
            if let block = destination.block { table.add("blocked", block.words) }
            for (key, value) in destination.shownSettings.sorted(by: { $0.key < $1.key }) {
                table.add(key, Visible.text(value))
            }
            for line in [name] + table.lines { try Output.line(line) }
        }
    }

    struct Remove: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: "Remove a destination that no capture refers to.",
            example: ["capqueue dest remove nas"])

        @Argument(help: "Its name.", completion: QueueCompletions.destinations)
        var name: String

        @OptionGroup var queue: QueueOptions

        func run() throws { try queue.with { try $0.destinations.remove(name) } }
    }

    struct Default: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "default",
            abstract: "Print or set the destination of captures that are pushed without --dest.",
            discussion: "Captures that were pushed before keep their destination.",
            example: ["capqueue dest default nas"])

        @Argument(help: "The new default.", completion: QueueCompletions.destinations)
        var name: String?

        @OptionGroup var format: JSONOption
        @OptionGroup var queue: QueueOptions

        func validate() throws {
            if format.json && name != nil { throw ValidationError("--json prints the default and does not set it") }
        }

        func run() throws {
            try queue.with { queue in
                if let name { return try queue.destinations.makeDefault(name) }
                let current = try queue.destinations.list().first(where: \.isDefault)
                if format.json { return try Output.json(.members(["name": current.map { .string($0.name) }])) }
                if let current { try Output.line(current.name) }
            }
        }
    }
}

struct KindArgument: ExpressibleByArgument {
    let text: String

    init(argument: String) { text = argument }

    static var allValueStrings: [String] { Destination.Kind.allCases.map(\.rawValue) }
    static var defaultCompletionKind: CompletionKind { .list(allValueStrings) }
}

extension Destination {
    /// The path, URL or command of the destination.
    fileprivate var place: String {
        let shown = shownSettings
        return shown["path"] ?? shown["url"] ?? shown["url-endpoint"] ?? shown["url-command"] ?? ""
    }

    fileprivate var json: JSONValue {
        .members([
            "name": .string(name), "kind": .string(kind), "default": .bool(isDefault),
            "settings": .object(shownSettings.map { .init($0.key, .string($0.value)) }),
            "added_at": .text(addedAt), "retired": isRetired ? .bool(true) : nil,
            "former_names": formerNames.isEmpty ? nil : .array(formerNames.map { .string($0) }),
        ])
    }
}
