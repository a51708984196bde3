/// What a run remembers of an outage: something on the way to the server answers, or ends connections, in its place
/// (Spec/upload.md section 4). All times are Unix milliseconds.
package struct Outage: Hashable, Sendable {
    /// After this time the outage does not end by itself. From then on, this is also the pause between trials.
    static let long = Duration.seconds(3600)
    private static let mostBodies = 5

    /// The code of the last answer, such as `edge.502`.
    package var code: String
    private var since: Int
    /// When bodies were sent into it, within the last hour.
    private var bodies: [Int] = []

    init(_ code: String, at now: Int) { (self.code, since) = (code, now) }

    /// Reads what `text` wrote; nil if it is something else.
    package init?(text: String) {
        let parts = text.pieces(by: " ")
        let times = parts.dropFirst().compactMap { Int($0) }
        guard let code = parts.first, let since = times.first, times.count == parts.count - 1 else { return nil }
        (self.code, self.since, bodies) = (code, since, Array(times.dropFirst()))
    }

    /// The form in the database: the code, the beginning, and the times of the bodies.
    package var text: String { ([code] + ([since] + bodies).map(String.init)).joined(separator: " ") }

    /// Records one more answer, and perhaps a body that was sent before it.
    mutating func goesOn(_ code: String, hasBody: Bool, at now: Int) {
        self.code = code
        // A clock that was set back does not make an outage last longer.
        since = min(since, now)
        bodies = bodies.filter { now - Self.long.milliseconds < $0 && $0 <= now } + (hasBody ? [now] : [])
    }

    /// The pause that is needed before the next trial; nil for that of the reason.
    func pause(at now: Int) -> Duration? {
        if now - since >= Self.long.milliseconds { return Self.long }
        // It is a little less, because it does not say that the outage is long.
        let left = nextBody - now
        return left > 0 ? min(.milliseconds(left), Self.long - .seconds(1)) : nil
    }

    /// When the next body may be sent; 0 for at once.
    var nextBody: Int {
        bodies.count < Self.mostBodies ? 0 : bodies[bodies.count - Self.mostBodies] + Self.long.milliseconds
    }
}
