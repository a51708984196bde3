import CaptureNative

/// A progress line on the terminal. It prints nothing if standard error is not a terminal.
package final class Progress {
    private let noun: String
    private let total: Int?
    private let isShown: Bool
    private let started = MonotonicClock.seconds
    private var shownAt = MonotonicClock.seconds
    private var count = 0
    private var bytes = 0
    private var isOnScreen = false

    /// - Parameters:
    ///   - noun: The name of the counted things, in the singular.
    ///   - total: Their number; nil if it is not known.
    package init(_ noun: String, total: Int?, isWanted: Bool) {
        self.noun = noun
        self.total = total
        isShown = isWanted && FileHandle.standardError.isTerminal && ProcessEnvironment.value("TERM") != "dumb"
    }

    /// Records that one more thing is done, and its size.
    package func advance(bytes more: Int) {
        count += 1
        bytes += more
        let now = MonotonicClock.seconds
        guard isShown, now - shownAt >= 0.2 else { return }
        shownAt = now
        show(now)
    }

    /// Removes the line from the terminal.
    package func end() {
        guard isOnScreen else { return }
        Output.message("\r\u{1b}[K", end: "")
        isOnScreen = false
    }

    /// Removes the line, runs `body`, which may write to the terminal, and shows the line again.
    package func around<Failure: Error>(_ body: () throws(Failure) -> Void) throws(Failure) {
        let wasOnScreen = isOnScreen
        end()
        try body()
        if wasOnScreen { show(MonotonicClock.seconds) }
    }

    private func show(_ now: Double) {
        let seconds = max(now - started, 0.001)
        let number = { Quantity.number($0, on: .messages) }
        let of = total.map { " of \(number($0))" } ?? ""
        let columns = (FileHandle.standardError.columns ?? 80) - 1
        // A fact that does not fit is left out; the most important ones come first.
        var line = "\(number(count))\(of) \(noun)s"
        for fact in [
            timeLeft(seconds), "\(number(Int(Double(count) / seconds))) a second",
            "\(number(Int(Double(bytes) / seconds / 1e6))) MB/s",
        ] where !fact.isEmpty && line.width + 2 + fact.width <= columns {
            line += ", \(fact)"
        }
        Output.message("\r\u{1b}[K" + line.cut(toWidth: columns), end: "")
        isOnScreen = true
    }

    private func timeLeft(_ seconds: Double) -> String {
        guard let total, count > 0, count < total else { return "" }
        let left = Int(seconds / Double(count) * Double(total - count)) + 1
        return left < 120 ? "\(left) s left" : "\(left / 60) min left"
    }
}
