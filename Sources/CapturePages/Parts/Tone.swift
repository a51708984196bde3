/// A rating of a result. Each tone has a sign of a different shape, so that colour is not needed to tell them apart.
public enum Tone: Sendable, CaseIterable {
    /// Verified, or uploaded.
    case good
    /// Waiting or cancelled.
    case neutral
    /// Not trusted, held, or failed so far.
    case doubtful
    case bad

    public func badge(_ words: String) -> HTML { "<span class=\"badge \(name)\">\(sign) \(words)</span>" }

    /// The sign alone. It is hidden from screen readers, so words have to follow it.
    var sign: HTML { "<svg aria-hidden=\"true\" viewBox=\"0 0 16 16\"><use href=\"#\(name)\"/></svg>" }

    /// Problems as a list in the colour of the tone; nothing if there are none.
    public func findings(_ lines: [HTML]) -> HTML? {
        lines.isEmpty ? nil : "<ul class=\"findings \(name)\">\n\(lines.map { "<li>\($0)</li>\n" as HTML })</ul>\n"
    }

    /// A short text in the colour of the tone.
    package func mark(_ words: String) -> HTML { "<span class=\"mark \(name)\">\(words)</span>" }

    var name: HTML {
        switch self {
        case .good: "good"
        case .neutral: "neutral"
        case .doubtful: "doubtful"
        case .bad: "bad"
        }
    }

    /// The signs: a disc with a tick, a clock, a triangle with an exclamation mark, and an octagon with a cross. A page
    /// defines each of them once.
    static let signs: HTML = """
        <svg class="signs" aria-hidden="true" width="0" height="0">
        <symbol id="good" viewBox="0 0 16 16"><circle cx="8" cy="8" r="7" fill="currentColor"/>\
        <path d="M4.5 8.3 7 10.8l4.6-5.2" fill="none" class="cut" stroke-width="1.8"/></symbol>
        <symbol id="neutral" viewBox="0 0 16 16"><circle cx="8" cy="8" r="6.2" fill="none" stroke="currentColor" \
        stroke-width="1.6"/><path d="M8 4.5V8l2.5 1.6" fill="none" stroke="currentColor" stroke-width="1.6"/></symbol>
        <symbol id="doubtful" viewBox="0 0 16 16"><path d="M8 1.2 15.4 14.6H.6z" fill="currentColor"/>\
        <path d="M8 6v4.4M8 11.6v1.6" class="cut" stroke-width="1.7"/></symbol>
        <symbol id="bad" viewBox="0 0 16 16"><path d="M5 .8h6L15.2 5v6L11 15.2H5L.8 11V5z" fill="currentColor"/>\
        <path d="m5.2 5.2 5.6 5.6m0-5.6-5.6 5.6" class="cut" stroke-width="1.8"/></symbol>
        </svg>

        """
}
