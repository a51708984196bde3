/// Decides when to give up a transfer (Spec/upload.md section 4.6). It has no clock: callers pass the time in seconds.
///
/// A transfer that makes progress is never given up, however long it takes. Until the request has left this machine,
/// the number of moved bytes counts; from then on, the time that the answer takes.
package struct StandstillWatch {
    /// The minimum number of bytes that must move in a minute.
    private static let least = 1000.0

    private let times: TransferTimes
    private let waitsForAnswer: Bool
    private var mark: (bytes: Int, at: Double)
    private var drainedAt: Double?

    /// - Parameter waitsForAnswer: False for a download, because it is itself the answer.
    package init(_ times: TransferTimes, waitsForAnswer: Bool = true, at now: Double) {
        self.times = times
        self.waitsForAnswer = waitsForAnswer
        mark = (0, now)
    }

    /// Starts again, because the request is sent again from its beginning.
    package mutating func restart(at now: Double) {
        mark = (0, now)
        drainedAt = nil
    }

    /// Excludes time in which this side held bytes back, because it says nothing about the connection.
    package mutating func heldBack(seconds: Double) { mark.at += seconds }

    /// - Parameters:
    ///   - moved: The number of bytes that the other side has received or sent.
    ///   - isDrained: Whether the other side has received the whole request.
    /// - Returns: The reason to give up the transfer; nil while it may continue.
    package mutating func verdict(moved: Int, isDrained: Bool, at now: Double) -> String? {
        if isDrained, drainedAt == nil, waitsForAnswer { drainedAt = now }
        if let drainedAt {
            return now - drainedAt > times.answer
                ? "no complete answer within \(Int(times.answer)) s (answer-timeout)" : nil
        }
        // `moved` can decrease, because the unsent bytes in the socket include TLS records and headers, which `sent`
        // leaves out.
        mark.bytes = min(mark.bytes, moved)
        let least = max(1, Int(Self.least * times.stall / 60))
        if moved - mark.bytes >= least { mark = (moved, now) }
        return now - mark.at > times.stall
            ? "fewer than \(least) bytes moved in \(Int(times.stall)) s (stall-timeout)" : nil
    }
}
