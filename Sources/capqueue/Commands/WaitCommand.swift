import ArgumentParser
import CaptureBundle
import CaptureNative
import CaptureQueue
import CommandSupport
import QueueModel

struct WaitCommand: ManyNamesCommand {
    static let configuration = CommandConfiguration(
        commandName: "wait",
        abstract: "Wait until captures are uploaded.",
        usage: """
            capqueue wait ID... [--timeout AGE]
            capqueue wait --session NAME | --all [--timeout AGE]
            """,
        discussion: """
            Sends nothing itself. Prints each id with its final state; --all leaves out captures that were completed \
            or cancelled before. Exit codes: 0 all are completed or cancelled, 14 a capture failed for good, 15 the \
            timeout has passed.
            """,
        example: ["id=$(capqueue push cap.bundle) && capqueue wait $id --timeout 5m", "capqueue wait --session monday"])

    @Argument(
        help: ArgumentHelp("Ids, or the beginnings of ids; - reads them from standard input.", valueName: "id"),
        completion: QueueCompletions.ids)
    var names: [String] = []

    @Option("All captures of this session.", value: "name", completion: QueueCompletions.sessions)
    var session: String?

    @Flag(help: "All captures.")
    var all = false

    @Option("Give up after this time (default: never).", value: "age")
    var timeout: Duration?

    @OptionGroup var format: JSONOption
    @OptionGroup var queue: QueueOptions

    func validate() throws {
        if [!names.isEmpty, session != nil, all].count(where: { $0 }) != 1 {
            throw ValidationError("give ids, --session or --all")
        }
        try names.requireOneSource()
    }

    func run() throws {
        let status = try queue.with { queue -> ExitStatus in
            if let session, try !queue.sessions.list().contains(where: { $0.name == session }) {
                throw QueueError(.sessionUnknown, "no such session", of: session)
            }
            let named = try names.given().map { try queue.captures.find($0).id }
            let end = timeout.map { MonotonicClock.seconds + $0 / .seconds(1) }
            return named.isEmpty ? try waitForAll(queue, end) : try waitFor(named, in: queue, until: end)
        }
        if status != .success { throw status }
    }

    private func waitFor(_ named: [String], in queue: UploadQueue, until end: Double?) throws -> ExitStatus {
        var left = named
        var worst = ExitStatus.success
        while true {
            left = try left.filter { id in
                let state = try queue.captures.find(id).state
                if DeliveryState.waiting.contains(state) || state == .held { return true }
                try Output.line(text(id, state))
                if DeliveryState.failedForGood.contains(state) { worst = .failedForGood }
                return false
            }
            if left.isEmpty { return worst }
            if let end, MonotonicClock.seconds >= end {
                noteLeft(left.count)
                return ExitStatus.worst([worst, .workLeft])
            }
            pause(until: end)
        }
    }

    /// Checks the totals until nothing waits, and then prints each capture once. `--all` leaves out captures that were
    /// finished before it began, because a queue can have thousands.
    private func waitForAll(_ queue: UploadQueue, _ end: Double?) throws -> ExitStatus {
        let mark = all ? try queue.captures.historyEnd() : nil
        var isLate = false
        while !isLate, case let left = try waitingCount(queue), left > 0 {
            isLate = end.map { MonotonicClock.seconds >= $0 } ?? false
            isLate ? noteLeft(left) : pause(until: end)
        }
        var worst = isLate ? ExitStatus.workLeft : .success
        let output = try TextOutput()
        for (id, state) in try queue.captures.ended(session: session, since: mark) {
            try output.line(text(id, state))
            if DeliveryState.failedForGood.contains(state) { worst = ExitStatus.worst([worst, .failedForGood]) }
        }
        try output.finish()
        return worst
    }

    private func text(_ id: String, _ state: DeliveryState) -> String {
        format.json
            ? Output.jsonText(.members(["id": .string(id), "state": .string(state.rawValue)]))
            : "\(id) \(state.rawValue)"
    }

    private func waitingCount(_ queue: UploadQueue) throws -> Int {
        let totals = try queue.captures.totals(session: session)
        return (DeliveryState.waiting + [.held]).reduce(0) { $0 + (totals[$1] ?? 0) }
    }

    private func noteLeft(_ count: Int) {
        let captures = Quantity.count(count, "capture is", plural: "captures are", on: .messages)
        diagnostic.note("\(captures) not uploaded yet; see: \(capqueue("status"))")
    }

    /// Checks five times a second, because this process is not notified of changes by others.
    private func pause(until end: Double?) {
        MonotonicClock.sleep(min(0.2, end.map { max(0, $0 - MonotonicClock.seconds) } ?? 0.2))
    }
}
