import ArgumentParser
import CaptureBundle
import CaptureQueue
import CommandSupport
import QueueModel

/// The arguments and options of `hold`, `release`, `cancel` and `retry`.
struct ChangeOptionGroup: ParsableArguments {
    @Argument(
        help: ArgumentHelp("Ids, or the beginnings of ids; - reads them from standard input.", valueName: "id"),
        completion: QueueCompletions.ids)
    var names: [String] = []

    @OptionGroup var filter: FilterOptions

    @Option("Only captures for this destination.", value: "name", completion: QueueCompletions.destinations)
    var dest: String?

    @Flag(help: "All captures whose state allows it.")
    var all = false

    @Flag(help: "Print what would be changed, and change nothing.")
    var dryRun = false

    @OptionGroup var format: JSONOption
    @OptionGroup var queue: QueueOptions

    private var hasFilter: Bool { filter.state != nil || filter.session != nil || all || dest != nil && names.isEmpty }

    private func requireTarget(_ hasFilter: Bool) throws {
        if names.isEmpty && !hasFilter {
            throw ValidationError("give ids, a filter (--state, --session, --dest) or --all")
        }
        if !names.isEmpty && hasFilter { throw ValidationError("give either ids or a filter, not both") }
        try names.requireOneSource()
    }

    /// - Parameter states: changes captures in these states, as `--state` does.
    func change(_ change: UserChange, states: [DeliveryState] = []) throws {
        let hasFilter = hasFilter || !states.isEmpty
        try requireTarget(hasFilter)
        if !states.isEmpty && filter.state != nil { throw ValidationError("give either --failed or --state") }
        var options = ChangeOptions()
        options.isDryRun = dryRun
        options.destination = dest
        try queue.with(changes: true) { queue in
            if let dest { _ = try queue.destinations.find(dest) }
            if hasFilter {
                var chosen = filter.filter
                if !states.isEmpty { chosen.states = states }
                chosen.destination = dest
                var count = 0
                let absent = try queue.captures.change(change, chosen, options) { id in
                    count += 1
                    try report(id)
                }
                if absent > 0 {
                    let captures = Quantity.count(absent, "capture", on: .messages)
                    diagnostic.warning(
                        "\(captures) cannot be sent, because the bytes are missing or damaged; push the bundle again",
                        hints: ["find them with: \(capqueue("check"))"])
                } else if count == 0 {
                    diagnostic.note("nothing to \(change.rawValue)")
                }
            } else {
                try changeEach(change, in: queue, options: options)
            }
        }
    }

    private func report(_ id: String) throws {
        try format.json ? Output.json(.members(["id": .string(id)])) : Output.line(id)
    }

    private func changeEach(_ change: UserChange, in queue: UploadQueue, options: ChangeOptions) throws {
        var worst = ExitStatus.success
        for id in try names.given() {
            do {
                try report(queue.captures.change(change, id, options))
            } catch let error as QueueError {
                worst = ExitStatus.worst([worst, try reportFailure(error)])
            }
        }
        if worst != .success { throw worst }
    }
}

protocol ChangeCommand: ManyNamesCommand {
    var options: ChangeOptionGroup { get set }
}

extension ChangeCommand {
    var names: [String] {
        get { options.names }
        set { options.names = newValue }
    }
}

extension CommandConfiguration {
    /// The configuration of a command that changes captures.
    ///
    /// - Parameters:
    ///   - usage: a further form of its arguments.
    ///   - note: what more the help says about the changes.
    fileprivate init(
        _ change: UserChange, _ abstract: String, usage: String? = nil, note: String? = nil, example: [String]
    ) {
        let forms = ["ID... [options]", usage, "--state STATE | --session NAME | --dest NAME | --all"]
        self.init(
            commandName: change.rawValue, abstract: abstract,
            usage: forms.compactMap(\.self).map { "capqueue \(change.rawValue) \($0)" }.joined(separator: "\n"),
            discussion: ["Prints the ids that are changed.", note].compactMap(\.self).joined(separator: " "),
            example: example)
    }
}

struct HoldCommand: ChangeCommand {
    static let configuration = CommandConfiguration(
        .hold, "Keep captures from being sent until they are released.",
        example: ["capqueue hold 38ca8c35", "capqueue hold --session monday"])

    @OptionGroup var options: ChangeOptionGroup

    func run() throws { try options.change(.hold) }
}

struct ReleaseCommand: ChangeCommand {
    static let configuration = CommandConfiguration(
        .release, "Let held captures be sent.",
        example: ["capqueue release --all"])

    @OptionGroup var options: ChangeOptionGroup

    func run() throws { try options.change(.release) }
}

struct CancelCommand: ChangeCommand {
    static let configuration = CommandConfiguration(
        .cancel, "Stop sending captures; their bytes stay until prune --cancelled.",
        note: "\"capqueue retry\" undoes this until the bytes are deleted.",
        example: ["capqueue cancel 38ca8c35", "capqueue list --session monday | cut -d' ' -f1 | capqueue cancel -"])

    @OptionGroup var options: ChangeOptionGroup

    func run() throws { try options.change(.cancel) }
}

struct RetryCommand: ChangeCommand {
    static let configuration = CommandConfiguration(
        .retry, "Try again to send captures that failed, were cancelled or met a conflict.",
        usage: "--failed [options]",
        note: "Each capture gets all its attempts again. Uploaded captures are not sent again.",
        example: ["capqueue retry --failed"])

    @Flag(help: "All captures that failed for good or met a conflict.")
    var failed = false

    /// Does nothing: every retry now resets the attempts. The flag stays for older scripts.
    @Flag(help: .hidden)
    var reset = false

    @OptionGroup var options: ChangeOptionGroup

    func run() throws { try options.change(.retry, states: failed ? [.permanentlyFailed, .conflict] : []) }
}
