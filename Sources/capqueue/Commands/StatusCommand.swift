import ArgumentParser
import CaptureBundle
import CaptureNative
import CaptureQueue
import CommandSupport
import QueueFiles
import QueueModel
import SystemPackage

struct StatusCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Print the state of the queue.",
        usage: "capqueue status [options]",
        discussion: """
            --check is for monitoring. It prints a line, with the next command, for each problem that a person has to \
            solve. Exit codes: 0 no problem, 14 captures failed for good, 13 the spool is larger than warn-at, push \
            refuses because of limit or free-floor, or the disk is nearly full, 15 captures have no destination, are \
            held, or wait where nothing is sent until you act (paused, blocked), a capture has waited for longer than \
            --max-age, or the clock is or was wrong, which delays deletion and can delay sending. With --json, the \
            whole state is printed, with the problems in "concerns".
            A server that cannot be reached is a problem only with --max-age: captures for it just wait.
            --prometheus is for the textfile collector of a node exporter.
            """,
        example: [
            "capqueue status",
            "capqueue status --check --max-age 2h > report || mail -s queue ops < report",
            "capqueue status --prometheus > /var/lib/node_exporter/capqueue.prom",
        ])

    @OptionGroup var format: JSONOption

    @Flag(help: "Print metrics in the text format of Prometheus.")
    var prometheus = false

    @Flag(help: "Report problems; exit non-zero if there are any.")
    var check = false

    @Option("Report captures that have waited for longer than this.", value: "age")
    var maxAge: Duration?

    @OptionGroup var queue: QueueOptions

    func validate() throws {
        if prometheus && (format.json || check) {
            throw ValidationError("give --prometheus without --json and --check")
        }
    }

    func run() throws {
        let (status, running) = try queue.with { (try $0.status(), TransfersFile.content(in: $0.folder)) }
        let path = queue.folder.path.string
        let concerns = status.concerns(maxAge: maxAge)
        if format.json {
            try Output.json(status.json(queue: path, run: running, concerns))
        } else {
            let lines =
                check
                ? concerns.map { $0.line(status) }
                : prometheus
                    ? status.metrics(queue: queue.folder.path.absolute.string, concerns, isRunning: running != nil)
                    : status.page(queue: path, run: running, concerns)
            for line in lines { try Output.line(line) }
        }
        if check, !concerns.isEmpty { throw ExitStatus.worst(concerns.map(\.status)) }
    }
}
