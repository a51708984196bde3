import CaptureBundle
package import CapturePages

/// A picture of a card. The page contains its bytes.
package struct ReportPicture: Sendable {
    private let picture: BundlePicture
    /// The alternative text for those who cannot see the picture.
    private let words: String
    private let caption: HTML

    package init(_ picture: BundlePicture, words: String, caption: HTML) {
        self.picture = picture
        self.words = words
        self.caption = caption
    }

    fileprivate var html: HTML {
        let (width, height) = (picture.width, picture.height)
        let figure: HTML = height > width ? "<figure class=\"tall\">" : "<figure>"
        return """
            \(figure)<img src="\(file: picture.bytes, type: "image/jpeg")" width="\(width)" height="\(height)" \
            alt="\(words)" decoding="async"><figcaption>\(caption)</figcaption></figure>

            """
    }
}

/// A card: what a report says about one capture.
package struct ReportCard: Sendable {
    package let tone: ReportTone
    /// The verdict or the state in words.
    package let words: String
    package let title: HTML
    package var pictures: [ReportPicture] = []
    /// The problems, the worst first.
    package var findings: [HTML] = []
    package var facts: [Fact] = []
    /// The last line of the card.
    package var note: HTML?

    package struct Fact: Sendable {
        let name: String
        let value: HTML
    }

    package init(_ tone: ReportTone, _ words: String, title: HTML) {
        self.tone = tone
        self.words = words
        self.title = title
    }

    package mutating func add(_ name: String, _ value: HTML) { facts.append(Fact(name: name, value: value)) }

    /// The markup behind the opening tag, which has the number of the card.
    var html: HTML {
        """
        \(tone.badge(words))
        <h4>\(title)</h4>
        \(pictures.isEmpty ? nil : "<div class=\"pictures\">\n\(pictures.map(\.html))</div>\n")\
        \(findings.isEmpty ? nil : "<ul class=\"findings \(tone.name)\">\n\(findings.map { "<li>\($0)</li>\n" })</ul>\n")\
        <dl class="facts">
        \(facts.map { "<dt>\($0.name)</dt><dd>\($0.value)</dd>\n" })</dl>
        \(note.map { "<p class=\"note\">\($0)</p>\n" })</article>

        """
    }
}
