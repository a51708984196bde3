import CaptureQueue

/// The lines of a run on a terminal: one for each transfer, and one for the whole run.
struct TransferLines {
    let columns: Int
    /// The monotonic clock, in seconds.
    let now: Double

    /// - Parameters:
    ///   - backlog: nil if it has not been counted yet.
    ///   - rate: bytes a second in all.
    func total(_ summary: RunSummary, _ backlog: RunBacklog?, underWay: Int, rate: Double) -> String {
        let done = summary.sentBytes + underWay
        let failed = summary.failed > 0 ? ", \(summary.failed) failed" : ""
        guard let backlog else { return "\(summary.sentCaptures) sent\(failed)  \(Self.rate(rate))" }
        let whole = max(done, summary.sentBytes + backlog.bytes)
        let count = "\(summary.sentCaptures) of \(summary.sentCaptures + backlog.deliveries) sent\(failed)"
        let bytes = "\(Self.size(done)) of \(Self.size(whole))"
        let left = rate > 0 ? Self.left(Double(whole - done) / rate) : "starting"
        return fitted([[count, bytes, Self.rate(rate), left], [count, bytes, left], [count, left], [count]])
    }

    func line(_ transfer: TransferProgress) -> String {
        let rate = Double(transfer.sent) / max(0.001, now - transfer.started)
        let share = transfer.bytes > 0 ? min(1, Double(transfer.sent) / Double(transfer.bytes)) : 0
        let percent = String(Int(share * 100))
        let left = rate > 0 ? Self.left(Double(transfer.bytes - transfer.sent) / rate) : "starting"
        let destination = Self.shortened(transfer.destination, to: columns < 80 ? 12 : 20)
        let width = max(8, min(30, columns - 50 - destination.width))
        let filled = Int(share * Double(width))
        let bar = "[" + String(repeating: "#", count: filled) + String(repeating: "-", count: width - filled) + "]"
        let name = "\(transfer.id.cut(to: 8)) \(destination)"
        let part = String(repeating: " ", count: 3 - percent.utf8.count) + "\(percent) %"
        return fitted([
            [name + " " + bar + " " + part, Self.rate(rate), left], [name + " " + bar + " " + part, left],
            [name + " " + part, left], [name + " " + part],
        ])
    }

    /// The first choice that fits into the line.
    private func fitted(_ choices: [[String]]) -> String {
        let lines = choices.map { $0.joined(separator: "  ") }
        return lines.first { $0.width < columns } ?? (lines.last ?? "").cut(toWidth: columns - 1)
    }

    private static func shortened(_ name: String, to width: Int) -> String {
        name.utf8.count > width ? name.cut(to: width - 1) + "…" : name
    }

    private static func left(_ seconds: Double) -> String {
        let seconds = min(seconds, 1e9)
        return "\(seconds < 120 ? "\(Int(seconds) + 1) s" : Duration.seconds(Int(seconds) / 60 * 60).words) left"
    }

    private static func rate(_ bytes: Double) -> String { size(Int(min(bytes, 1e15))) + "/s" }

    static func size(_ bytes: Int) -> String {
        switch bytes {
        case ..<1_000_000: "\(bytes / 1000) kB"
        case ..<1_000_000_000: "\(tenths(bytes, of: 1_000_000)) MB"
        default: "\(tenths(bytes, of: 1_000_000_000)) GB"
        }
    }

    private static func tenths(_ bytes: Int, of unit: Int) -> String { "\(bytes / unit).\(bytes % unit * 10 / unit)" }
}

/// The rate of the last 20 seconds, so that idle time before does not count.
struct RecentRate {
    private var marks: [(at: Double, bytes: Int)] = []
    private static let span = 20.0

    /// - Parameter bytes: the number of bytes sent so far.
    mutating func update(_ bytes: Int, at now: Double) -> Double {
        marks.append((now, bytes))
        while let first = marks.first, marks.count > 2, now - first.at > Self.span { marks.removeFirst() }
        guard let first = marks.first, now > first.at else { return 0 }
        return Double(max(0, bytes - first.bytes)) / (now - first.at)
    }
}
