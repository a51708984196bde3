import CapturePages
import CaptureQueue
import CommandSupport
import QueueModel

/// Counts what a run sent, for its last line.
struct RunSummary {
    private(set) var sentCaptures = 0
    private(set) var sentBytes = 0
    private(set) var failed = 0
    private var destinations: [String] = []

    mutating func take(_ event: QueueEvent) {
        switch event.name {
        case .completed:
            sentCaptures += 1
            sentBytes += event.bytes ?? 0
            if let name = event.destination, !destinations.contains(name) { destinations.append(name) }
        case .failed, .permanentlyFailed, .conflict, .quarantined: failed += 1
        default: break
        }
    }

    /// - Parameter seconds: how long the run took.
    func line(_ status: QueueStatus, seconds: Double) -> String {
        let isIdle = status.waiting == 0 && status.failedForGood == 0
        var parts = [isIdle ? "nothing to send" : "sent nothing"]
        if sentCaptures > 0 {
            let names = destinations.joined(separator: " and ")
            let places = destinations.count > 2 ? "\(destinations.count) destinations" : names
            let time = seconds < 60 ? "\(Rounded.decimal(seconds, places: 1)) s" : Duration.seconds(seconds).words
            let what = Quantity.count(sentCaptures, "capture", on: .messages)
            parts = ["sent \(what), \(Quantity.bytes(sentBytes, on: .messages)), to \(places) in \(time)"]
        }
        if status.waiting > 0 {
            parts.append("\(Quantity.number(status.waiting, on: .messages)) \(status.waiting == 1 ? "waits" : "wait")")
        }
        if status.failedForGood > 0 {
            parts.append("\(Quantity.number(status.failedForGood, on: .messages)) failed for good")
        }
        return parts.joined(separator: "; ")
    }
}
