import ArgumentParser
import CaptureBundle
import CaptureQueue
import CommandSupport
import SystemPackage

struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Print how the queue stands.",
        usage: "capqueue status [options]",
        discussion: """
            --check is for monitoring: 0 all is well, 14 captures have failed for good, 13 the spool is over its mark, 15 the \
            oldest has waited longer than --max-age. --prometheus is for the textfile collector of a node exporter.

            Example:
              capqueue status
              capqueue status --check --max-age 2h || mail -s queue ops < /dev/null
              capqueue status --prometheus > /var/lib/node_exporter/capqueue.prom
            """)

    @OptionGroup var format: JSONOption

    @Flag(help: "Print metrics in the text format of Prometheus.")
    var prometheus = false

    @Flag(help: "Answer by the exit code, and print what is not well.")
    var check = false

    @Option(help: ArgumentHelp("With --check: how long the oldest may have waited.", valueName: "age"))
    var maxAge: AgeArgument?

    @OptionGroup var queue: QueueOptions

    func validate() throws {
        if [format.json, prometheus, check].count(where: { $0 }) > 1 {
            throw ValidationError("give one of --json, --prometheus and --check")
        }
        if maxAge != nil && !check { throw ValidationError("--max-age goes with --check") }
    }

    func run() throws {
        let (status, running) = try queue.with { (try $0.status(), $0.runProgress()) }
        let path = queue.folder.path.string
        if check { return try examine(status) }
        if format.json { return try Output.json(status.json(queue: path, run: running)) }
        let metrics = { status.metrics + StatusMetrics.running(running != nil) }
        for line in prometheus ? metrics() : status.page(queue: path, run: running) { try Output.line(line) }
    }

    private func examine(_ status: QueueStatus) throws {
        var found: [ExitStatus] = []
        if status.failedForGood > 0 {
            found.append(.failedForGood)
            try Output.line(
                "\(Quantity.count(status.failedForGood, "capture")) failed for good: see capqueue list --state "
                    + DeliveryState.failedForGood.map(\.rawValue).joined(separator: ","))
        }
        if status.isOverMark {
            found.append(.overMark)
            try Output.line(
                "the spool holds \(Quantity.bytes(status.usedBytes)), over the mark of \(ByteSize.text(status.settings.warnAt))"
            )
        }
        if let maxAge, let oldest = status.oldestWaiting, oldest.ageMilliseconds > maxAge.age.milliseconds {
            found.append(.workLeft)
            try Output.line("\(oldest.id) has waited for \(Moment.age(oldest.ageMilliseconds))")
        }
        if !found.isEmpty { throw ExitStatus.worst(found) }
    }
}
