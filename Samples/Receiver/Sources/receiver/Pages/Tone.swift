/// The rating of a verdict. Each has a sign of a different shape, so that colour is not needed to tell them apart.
enum Tone: Sendable {
    case good, doubtful, bad

    /// The sign and the words in one line.
    func badge(_ words: String) -> HTML {
        "<span class=\"badge \(name)\"><svg aria-hidden=\"true\" viewBox=\"0 0 16 16\"><use href=\"#\(name)\"/></svg>\(words)</span>"
    }

    /// The box at the top of a page.
    func box(_ words: String, _ meaning: String) -> HTML {
        """
        <section class="verdict \(name)" aria-labelledby="verdict">
        <svg aria-hidden="true" viewBox="0 0 16 16"><use href="#\(name)"/></svg>
        <div><h1 id="verdict">\(words)</h1>
        <p>\(meaning)</p></div>
        </section>

        """
    }

    private var name: HTML {
        switch self {
        case .good: "good"
        case .doubtful: "doubtful"
        case .bad: "bad"
        }
    }

    /// The signs: a disc with a tick, a triangle with an exclamation mark, and an octagon with a cross. Each page defines
    /// them once.
    static let signs: HTML = """
        <svg class="signs" aria-hidden="true" width="0" height="0">
        <symbol id="good" viewBox="0 0 16 16"><circle cx="8" cy="8" r="7.5" fill="currentColor"/>\
        <path d="M4.2 8.4 7 11.2l5-6" fill="none" class="cut" stroke-width="1.8"/></symbol>
        <symbol id="doubtful" viewBox="0 0 16 16"><path d="M8 .8 15.8 15H.2z" fill="currentColor"/>\
        <path d="M8 5.6v4.8M8 11.8v1.7" class="cut" stroke-width="1.8"/></symbol>
        <symbol id="bad" viewBox="0 0 16 16"><path d="M4.9.5h6.2l4.4 4.4v6.2l-4.4 4.4H4.9L.5 11.1V4.9z" \
        fill="currentColor"/><path d="m5 5 6 6m0-6-6 6" class="cut" stroke-width="1.9"/></symbol>
        </svg>

        """
}
