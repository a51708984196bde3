import CaptureBundle
import CaptureQueue
import CommandSupport

extension QueueStatus {
    /// For people.
    func page(queue: String) -> [String] {
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
        let names = destinations.map { $0.isDefault ? "\($0.name) (default)" : $0.name }
        facts.add(
            "destinations", names.isEmpty ? "none; add one with: capqueue dest add" : names.joined(separator: ", "))
        if let clockDoubt {
            facts.add("clock", "off by \(Moment.age(clockDoubt)) from what was expected; deletion waits")
        }
        return [Visible.text(queue)] + table.lines + facts.lines
    }

    /// Spec/capqueue.md section 3.
    func json(queue: String) -> JSONValue {
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
            "sessions": .members([
                "open": .integer(sessions.open), "ended": .integer(sessions.ended), "due": .integer(sessions.due),
            ]),
            "destinations": .array(destinations.map { .string($0.name) }),
            "clock": .string(clockDoubt == nil ? "trusted" : "delayed"),
        ])
    }

    /// The text format of Prometheus.
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
        metric("attempts_total", "counter", "Attempts to send.", [("", attempts)])
        return lines
    }
}
