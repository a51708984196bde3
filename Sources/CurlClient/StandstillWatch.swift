/// Says when a transfer is given up (Spec/upload.md section 4.6). Pure: the time is handed in, in seconds.
///
/// What moves is never given up, however long it takes. Until the request has left this machine, what counts is how much
/// moves; from then on, how long the answer takes.
package struct StandstillWatch {
    /// Bytes that move in a minute, at least.
    private static let least = 1000.0

    private let times: TransferTimes
    private let waitsForAnswer: Bool
    private var mark: (bytes: Int, at: Double)
    private var drainedAt: Double?

    /// - Parameter waitsForAnswer: false for a download, which is its own answer.
    package init(_ times: TransferTimes, waitsForAnswer: Bool = true, at now: Double) {
        self.times = times
        self.waitsForAnswer = waitsForAnswer
        mark = (0, now)
    }

    /// The request begins anew.
    package mutating func restart(at now: Double) {
        mark = (0, now)
        drainedAt = nil
    }

    /// Bytes were held back here: that says nothing of the line.
    package mutating func heldBack(seconds: Double) { mark.at += seconds }

    /// - Parameters:
    ///   - moved: bytes that the other side took, and bytes that came from it.
    ///   - isDrained: the other side took all of the request.
    /// - Returns: why the transfer is given up; nil while it may go on.
    package mutating func verdict(moved: Int, isDrained: Bool, at now: Double) -> String? {
        if isDrained, drainedAt == nil, waitsForAnswer { drainedAt = now }
        if let drainedAt {
            return now - drainedAt > times.answer
                ? "no complete answer within \(Int(times.answer)) s (answer-timeout)" : nil
        }
        // What waits here can grow by more than was sent: by TLS, or by headers.
        mark.bytes = min(mark.bytes, moved)
        let least = max(1, Int(Self.least * times.stall / 60))
        if moved - mark.bytes >= least { mark = (moved, now) }
        return now - mark.at > times.stall
            ? "fewer than \(least) bytes moved in \(Int(times.stall)) s (stall-timeout)" : nil
    }
}
