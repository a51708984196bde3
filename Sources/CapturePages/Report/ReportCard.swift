/// A card: what a report says about one capture.
package struct ReportCard: Sendable {
    package let tone: Tone
    /// The verdict or the state in words.
    package let words: String
    package let title: HTML
    package var pictures: [Figure] = []
    /// The problems, the worst first.
    package var findings: [HTML] = []
    package var facts = FactList()
    /// The last line of the card.
    package var note: HTML?

    package init(_ tone: Tone, _ words: String, title: HTML) {
        self.tone = tone
        self.words = words
        self.title = title
    }

    /// The markup behind the opening tag, which has the number of the card.
    var html: HTML {
        """
        \(tone.badge(words))
        <h4>\(title)</h4>
        \(Figure.html(pictures))\(tone.findings(findings))\(facts.html)\
        \(note.map { "<p class=\"note\">\($0)</p>\n" })</article>

        """
    }
}
