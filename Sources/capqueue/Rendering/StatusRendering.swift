import CaptureBundle
import CaptureNative
import CaptureQueue
import CommandSupport

extension QueueStatus {
    private static func words(of run: JSONValue) -> String {
        let transfers = (run["transfers"]?.elements ?? []).map { transfer in
            let (sent, bytes) = (transfer["sent"]?.integer ?? 0, transfer["bytes"]?.integer ?? 0)
            let share = bytes > 0 ? " \(sent * 100 / bytes) %" : ""
            return "\(transfer["id"]?.text ?? "") to \(transfer["destination"]?.text ?? "")\(share)"
        }
        let sending = transfers.isEmpty ? "nothing under way" : transfers.joined(separator: ", ")
        return "process \(run["pid"]?.integer ?? 0), \(sending)"
    }

    /// The lines that `status` prints for people.
    ///
    /// - Parameter run: the current run as JSON; nil if there is none.
    func page(queue: String, run: JSONValue?) -> [String] {
        var table = TextTable()
        for state in DeliveryState.allCases {
            guard let total = totals[state] else { continue }
            table.add(state.rawValue, Quantity.count(total.captures, "capture"), Quantity.bytes(total.bytes))
        }
        if totals.isEmpty { table.add("empty") }
        var facts = TextTable()
        let mark =
            isOverMark
            ? Style.doubtful.output("over the mark of \(ByteSize.text(settings.warnAt))")
            : "warns at \(ByteSize.text(settings.warnAt))"
        facts.add("spool", "\(Quantity.bytes(usedBytes)), \(mark)")
        if let limit = settings.limit { facts.add("limit", Quantity.bytes(limit)) }
        if let freeBytes {
            let floor = settings.freeFloor.map { ", \(ByteSize.text($0)) have to stay free" } ?? ""
            facts.add("disk", "\(Quantity.bytes(freeBytes)) free\(floor)")
        }
        if let oldestWaiting {
            facts.add("oldest", "\(oldestWaiting.id) waits for \(Moment.age(oldestWaiting.ageMilliseconds))")
        }
        facts.add("retention", "\(settings.text(.retention)) after upload")
        if sessions.open + sessions.ended > 0 {
            facts.add("sessions", "\(sessions.open) open, \(sessions.ended) ended, \(sessions.due) of those due")
        }
        if partsOnly.captures > 0 {
            facts.add(
                "parts only",
                "\(Quantity.count(partsOnly.captures, "capture")), \(Quantity.bytes(partsOnly.bytes)): only the photo was "
                    + "delivered; kept until prune --accept-parts")
        }
        let names = destinations.map { each in
            each.isDefault ? "\(each.name) (default)" : each.isRetired ? "\(each.name) (retired)" : each.name
        }
        facts.add(
            "destinations", names.isEmpty ? "none; add one with: capqueue dest add" : names.joined(separator: ", "))
        for destination in destinations {
            if destination.isPaused {
                facts.add(destination.name, "paused; go on with: capqueue resume --dest \(destination.name)")
            }
            if let block = destination.block {
                facts.add(destination.name, "\(Style.doubtful.output("blocked")) \(block.words)")
            }
        }
        if isPaused { facts.add("paused", "nothing is sent; go on with: capqueue resume") }
        if let run { facts.add("run", Self.words(of: run)) }
        if let clockDoubt {
            facts.add("clock", "off by \(Moment.age(clockDoubt)) from what was expected; deletion waits")
        }
        return [Visible.text(queue)] + table.lines + facts.lines
    }

    /// The JSON object of Spec/capqueue.md section 3.
    func json(queue: String, run: JSONValue?) -> JSONValue {
        .members([
            "queue": .string(queue),
            "captures": .object(
                DeliveryState.allCases.compactMap { state in
                    totals[state].map { total in
                        .init(
                            state.rawValue,
                            .members(["captures": .integer(total.captures), "bytes": .integer(total.bytes)]))
                    }
                }),
            "quota": .members([
                "used_bytes": .integer(usedBytes), "warn_at": .integer(settings.warnAt), "over_mark": .bool(isOverMark),
                "limit": settings.limit.map { .integer($0) }, "free_floor": settings.freeFloor.map { .integer($0) },
            ]),
            "disk": .members(["free_bytes": freeBytes.map { .integer($0) }]),
            "oldest_waiting": oldestWaiting.map { oldest in
                .members([
                    "id": .string(oldest.id), "pushed_at": .string(Moment.text(oldest.pushedAt)),
                    "age_seconds": .integer(oldest.ageMilliseconds / 1000),
                ])
            },
            "parts_only": partsOnly.captures == 0
                ? nil
                : .members([
                    "captures": .integer(partsOnly.captures), "bytes": .integer(partsOnly.bytes),
                ]),
            "sessions": .members([
                "open": .integer(sessions.open), "ended": .integer(sessions.ended), "due": .integer(sessions.due),
            ]),
            "destinations": .array(
                destinations.map { each in
                    .members([
                        "name": .string(each.name), "kind": .string(each.kind), "default": .bool(each.isDefault),
                        "paused": .bool(each.isPaused), "retired": each.isRetired ? .bool(true) : nil,
                        "blocked": each.block?.json,
                    ])
                }),
            "paused": .bool(isPaused), "run": run,
            "clock": .string(clockDoubt == nil ? "trusted" : "delayed"),
        ])
    }

    /// The lines in the text format of Prometheus.
    var metrics: [String] {
        var lines: [String] = []
        func metric(_ name: String, _ kind: String, _ help: String, _ values: [(label: String, value: Int)]) {
            guard !values.isEmpty else { return }
            lines += ["# HELP capqueue_\(name) \(help)", "# TYPE capqueue_\(name) \(kind)"]
            lines += values.map { "capqueue_\(name)\($0.label) \($0.value)" }
        }
        let states = DeliveryState.allCases
        metric(
            "captures", "gauge", "Captures in each state.",
            states.map { ("{state=\"\($0.rawValue)\"}", totals[$0]?.captures ?? 0) })
        metric(
            "bytes", "gauge", "Bytes of the captures in each state.",
            states.map { ("{state=\"\($0.rawValue)\"}", totals[$0]?.bytes ?? 0) })
        metric("spool_bytes", "gauge", "Bytes that the spool holds.", [("", usedBytes)])
        metric("warn_at_bytes", "gauge", "Bytes from which on push warns.", [("", settings.warnAt)])
        metric("limit_bytes", "gauge", "Bytes that push does not go beyond.", settings.limit.map { [("", $0)] } ?? [])
        metric("disk_free_bytes", "gauge", "Bytes free on the disk.", freeBytes.map { [("", $0)] } ?? [])
        metric(
            "oldest_waiting_seconds", "gauge", "How long the oldest capture has waited.",
            [("", (oldestWaiting?.ageMilliseconds ?? 0) / 1000)])
        let counts = traffic.flatMap { each in each.counts.map { (each.destination, $0) } }
        metric(
            "attempts_total", "counter", "Attempts to send that ended.",
            counts.map { ("{destination=\"\($0)\",outcome=\"\($1.outcome)\"}", $1.attempts) })
        metric(
            "sent_bytes_total", "counter", "Bytes that were sent, whatever came of it.",
            traffic.map { each in
                ("{destination=\"\(each.destination)\"}", each.counts.reduce(0) { $0 + $1.bytes })
            })
        lines += latencyMetrics
        metric("paused", "gauge", "Whether the queue is paused.", [("", isPaused ? 1 : 0)])
        metric(
            "destination_blocked", "gauge", "Destinations to which nothing is sent for now, and why.",
            destinations.compactMap { each in
                each.block.map { ("{destination=\"\(each.name)\",reason=\"\($0.reason.rawValue)\"}", 1) }
            })
        return lines
    }

    private var latencyMetrics: [String] {
        guard !traffic.isEmpty else { return [] }
        let name = "capqueue_attempt_seconds"
        var lines = ["# HELP \(name) How long attempts took.", "# TYPE \(name) histogram"]
        for each in traffic {
            let label = "destination=\"\(each.destination)\""
            let bounds = [10, 100, 1000, 10_000, 100_000]
            let whole = each.latencies.last?.attempts ?? 0
            for bound in bounds {
                let count = each.latencies.last { $0.atMost <= bound }?.attempts ?? 0
                lines.append("\(name)_bucket{\(label),le=\"\(Double(bound) / 1000)\"} \(count)")
            }
            lines.append("\(name)_bucket{\(label),le=\"+Inf\"} \(whole)")
            let sum = each.counts.reduce(0) { $0 + $1.milliseconds }
            lines.append("\(name)_sum{\(label)} \(Double(sum) / 1000)")
            lines.append("\(name)_count{\(label)} \(whole)")
        }
        return lines
    }
}

extension Block {
    var json: JSONValue {
        .members([
            "reason": .string(reason.rawValue), "message": .string(message),
            "until": until.map { .string(Moment.text($0)) },
        ])
    }

    /// The reason, the end of the block and what was found, in words for people.
    var words: String {
        let time = until.map { " until \(Moment.text($0))" } ?? ""
        return "(\(reason.rawValue))\(time): \(Visible.text(message))"
    }
}

enum StatusMetrics {
    static func running(_ isRunning: Bool) -> [String] {
        [
            "# HELP capqueue_running Whether a run owns the queue.", "# TYPE capqueue_running gauge",
            "capqueue_running \(isRunning ? 1 : 0)",
        ]
    }
}
