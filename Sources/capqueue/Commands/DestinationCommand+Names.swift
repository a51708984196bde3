import ArgumentParser
import CaptureQueue
import CommandSupport
import QueueModel

extension DestinationCommand {
    struct Rename: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rename",
            abstract: "Give a destination another name.",
            discussion: "Captures that were pushed for it are still sent to it.",
            example: ["capqueue dest rename nas attic"])

        @Argument(help: "Its name.", completion: QueueCompletions.destinations)
        var name: String

        @Argument(help: "Its new name: A-Z a-z 0-9 . _ -")
        var newName: String

        @OptionGroup var queue: QueueOptions

        func run() throws { try queue.with { try $0.destinations.rename(name, to: newName) } }
    }

    struct Retire: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "retire",
            abstract: "Stop adding captures to a destination.",
            discussion: """
                Captures that wait are still sent to it. With --to they move to another destination, unless the \
                retired one may have received them already. If it was the default, the --to destination becomes the \
                default, or else the oldest one.
                """,
            example: ["capqueue dest retire nas --to attic"])

        @Argument(help: "Its name.", completion: QueueCompletions.destinations)
        var name: String

        @Option(
            "Move the waiting captures to this destination.", value: "name", completion: QueueCompletions.destinations)
        var to: String?

        @OptionGroup var queue: QueueOptions

        func run() throws {
            try queue.with { queue in
                let result = try queue.destinations.retire(name, movingTo: to)
                if let to {
                    diagnostic.note("\(Quantity.count(result.moved, "waiting capture", on: .messages)) moved to \(to)")
                }
                if let to, result.failed > 0 {
                    diagnostic.note(
                        "\(Quantity.count(result.failed, "failed capture", on: .messages)) not moved",
                        hints: [
                            "move what failed with: \(capqueue("retry")) --failed --dest \(name); "
                                + "\(capqueue("dest retire")) \(name) --to \(to)"
                        ])
                }
                if result.kept > 0 {
                    diagnostic.note(
                        "\(Quantity.count(result.kept, "capture", on: .messages)) still to be sent to \(name)"
                            + (to == nil ? "" : ", which may have received them already"))
                }
                if let current = try queue.destinations.list().first(where: \.isDefault) {
                    diagnostic.note("the default destination is \(current.name)")
                } else {
                    diagnostic.note(
                        "no destination takes captures; add one with: \(capqueue("dest add")) NAME --kind KIND ...")
                }
            }
        }
    }
}
