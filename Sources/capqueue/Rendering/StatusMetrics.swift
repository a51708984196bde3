import CaptureNative
import CaptureQueue
import QueueModel

extension QueueStatus {
    /// The text format of Prometheus. Series and their labels are the same whatever the queue holds, so that alerts can be
    /// written before anything is wrong.
    ///
    /// - Parameters:
    ///   - queue: the path of the queue, which tells the series of several queues on one machine apart.
    ///   - isRunning: whether a run owns the queue.
    func metrics(queue: String, _ concerns: [QueueConcern], isRunning: Bool) -> [String] {
        var text = MetricsText(queue: queue)
        addCaptures(to: &text)
        addDeliveries(to: &text)
        addTraffic(to: &text)
        text.add("paused", help: "Whether the queue is paused.", isPaused ? 1 : 0)
        text.add(
            "clock_trusted", help: "Whether the clock is trusted; 0 while deletion is delayed because of it.",
            clockDoubt == nil ? 1 : 0)
        text.add(
            "concerns", help: "Captures or sessions with a problem that a person has to solve.",
            QueueConcern.Code.allCases.map { code in
                (["code": code.rawValue], concerns.reduce(0) { $0 + ($1.code == code ? $1.count : 0) })
            })
        text.add("running", help: "Whether a run owns the queue.", isRunning ? 1 : 0)
        return text.lines
    }

    private func addCaptures(to text: inout MetricsText) {
        func each(_ value: (Total) -> Int) -> [MetricsText.Sample] {
            DeliveryState.allCases.map { (["state": $0.rawValue], totals[$0].map(value) ?? 0) }
        }
        text.add("captures", help: "Captures in each state.", each(\.captures))
        text.add("bytes", help: "Bytes of the captures in each state.", each(\.bytes))
        text.add("spool_bytes", help: "Bytes that the spool holds.", usedBytes)
        text.add("warn_at_bytes", help: "Bytes in the spool above which push warns.", settings.warnAt)
        text.add("limit_bytes", help: "The most bytes that push lets the spool hold.", settings.limit)
        text.add("disk_free_bytes", help: "Bytes free on the disk.", freeBytes)
        text.add("disk_free_inodes", help: "Free inodes on the disk of the queue.", freeInodes)
        text.add(
            "oldest_waiting_seconds", help: "How long the oldest capture has waited.",
            (work.compactMap(\.oldestAge).max()?.milliseconds ?? 0) / 1000)
    }

    private func addDeliveries(to text: inout MetricsText) {
        func each(_ value: (DestinationWork) -> Int) -> [MetricsText.Sample] {
            work.map { (["destination": $0.destination?.name ?? ""], value($0)) }
        }
        text.add(
            "deliveries", help: "Deliveries to each destination in each state.",
            work.flatMap { each -> [MetricsText.Sample] in
                let name = each.destination?.name ?? ""
                return DeliveryState.allCases.map { state in
                    (["destination": name, "state": state.rawValue], each.count([state]))
                }
            })
        text.add("backlog_bytes", help: "Bytes that wait for each destination.", each(\.backlog.bytes))
        text.add(
            "destination_oldest_waiting_seconds", help: "How long the oldest capture for each destination has waited.",
            each { ($0.oldestAge?.milliseconds ?? 0) / 1000 })
        text.add(
            "destination_paused", help: "Whether each destination is paused.",
            destinations.map { (["destination": $0.name], $0.isPaused ? 1 : 0) })
        text.add(
            "destination_blocked", help: "Whether each destination is blocked for this reason.",
            destinations.flatMap { each in
                Block.Reason.allCases.map { reason in
                    (["destination": each.name, "reason": reason.rawValue], each.block?.reason == reason ? 1 : 0)
                }
            })
    }

    private func addTraffic(to text: inout MetricsText) {
        text.add(
            "attempts_total", help: "Attempts to send that ended.",
            traffic.flatMap { each in
                each.counts.map { (["destination": each.destination, "outcome": $0.outcome], $0.attempts) }
            }, kind: "counter")
        text.add(
            "sent_bytes_total", help: "Bytes that were sent, including those of attempts that failed.",
            traffic.map { each in (["destination": each.destination], each.counts.reduce(0) { $0 + $1.bytes }) },
            kind: "counter")
        text.addLatencies(traffic)
    }
}

/// Lines in the text format of Prometheus.
private struct MetricsText {
    typealias Sample = (labels: KeyValuePairs<String, String>, value: Int)

    private let queue: String
    var lines: [String] = []

    init(queue: String) {
        // A backslash is first, so that nothing is escaped twice.
        let escapes = [("\\", #"\\"#), ("\"", #"\""#), ("\n", #"\n"#)]
        let escaped = escapes.reduce(queue) { $0.pieces(around: $1.0).joined(separator: $1.1) }
        self.queue = "queue=\"\(escaped)\""
    }

    mutating func add(_ name: String, help: String, _ value: Int?) {
        add(name, help: help, value.map { value -> [Sample] in [([:], value)] } ?? [])
    }

    mutating func add(_ name: String, help: String, _ samples: [Sample], kind: String = "gauge") {
        guard !samples.isEmpty else { return }
        lines += ["# HELP capqueue_\(name) \(help)", "# TYPE capqueue_\(name) \(kind)"]
        lines += samples.map { sample in
            let labels = sample.labels.map { "\($0.key)=\"\($0.value)\"" } + [queue]
            return "capqueue_\(name){\(labels.joined(separator: ","))} \(sample.value)"
        }
    }

    mutating func addLatencies(_ traffic: [Traffic]) {
        guard !traffic.isEmpty else { return }
        let name = "capqueue_attempt_seconds"
        lines += ["# HELP \(name) How long attempts took.", "# TYPE \(name) histogram"]
        for each in traffic {
            let labels = "destination=\"\(each.destination)\",\(queue)"
            let whole = each.latencies.last?.attempts ?? 0
            for bound in [10, 100, 1000, 10_000, 100_000] {
                let count = each.latencies.last { $0.atMost.milliseconds <= bound }?.attempts ?? 0
                lines.append("\(name)_bucket{\(labels),le=\"\(Double(bound) / 1000)\"} \(count)")
            }
            lines.append("\(name)_bucket{\(labels),le=\"+Inf\"} \(whole)")
            let sum = each.counts.reduce(0) { $0 + $1.time.milliseconds }
            lines.append("\(name)_sum{\(labels)} \(Double(sum) / 1000)")
            lines.append("\(name)_count{\(labels)} \(whole)")
        }
    }
}
