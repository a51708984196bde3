package import CaptureBundle

/// A kind of results, such as all altered bundles. The table has the kinds in the order of their ranks, the worst first.
package struct ReportKind: Sendable {
    let rank: Int
    /// Its name in identifiers of the page, such as `altered` in `kind-altered`: letters and hyphens.
    private let name: String

    /// - Parameter kind: A case of an enum with the names of all kinds, the worst first.
    package init<Kind: CaseIterable & RawRepresentable<String>>(_ kind: Kind) {
        rank = Kind.allCases.map(\.rawValue).firstIndex(of: kind.rawValue) ?? 0
        name = kind.rawValue
    }

    var anchor: HTML { "kind-\(name)" }
}

/// The parts of a page about one capture: its card, and its row of the table.
package struct ReportEntry: Sendable {
    /// When the capture was made or pushed; nil if no valid signature covers the time.
    package let time: CaptureTime?
    package let tone: Tone
    package let kind: ReportKind
    let card: [UInt8]
    let row: [UInt8]

    /// - Parameter row: The cells, as `PageTable.linked` makes them.
    package init(time: CaptureTime?, kind: ReportKind, card: ReportCard, row: HTML) {
        self.time = time
        self.kind = kind
        tone = card.tone
        self.card = Array(card.html.source.utf8)
        self.row = Array(row.source.utf8)
    }
}

/// Collects the captures of a page. Cards and rows are in a temporary file until the counts that come before them on the
/// page are known. So memory grows by only a few bytes for each capture.
package final class ReportCaptures {
    package enum Order: Sendable { case oldestFirst, newestFirst }

    private struct Place {
        let time: CaptureTime?
        let tone: Tone
        let kind: ReportKind
        let offset: Int
        let card: Int
        let row: Int
    }

    private let order: Order
    private let temporary = TemporaryText()
    private var places: [Place] = []

    package init(_ order: Order) { self.order = order }

    package var count: Int { places.count }

    /// - Throws: `io.failed`.
    package func add(_ entry: ReportEntry) throws(BundleError) {
        let offset = try temporary.append(entry.card)
        _ = try temporary.append(entry.row)
        places.append(
            Place(
                time: entry.time, tone: entry.tone, kind: entry.kind, offset: offset, card: entry.card.count,
                row: entry.row.count))
    }

    private var days: [(day: PageDay, counts: [Tone: Int])] {
        var counts: [PageDay: [Tone: Int]] = [:]
        for place in places {
            guard let time = place.time else { continue }
            counts[PageDay(time), default: [:]][place.tone, default: 0] += 1
        }
        let sorted = counts.keys.sorted()
        return (order == .oldestFirst ? sorted : sorted.reversed()).map { ($0, counts[$0] ?? [:]) }
    }

    /// The captures in the order of the cards, with their numbers. Captures without a time come first, in the order in
    /// which they were added.
    private var ordered: [(number: Int, place: Place)] {
        func key(_ place: Place) -> (Int, Int, Int) {
            guard let time = place.time?.milliseconds else { return (0, 0, place.offset) }
            return (1, order == .oldestFirst ? time : ~time, place.offset)
        }
        return Array(places.sorted { key($0) < key($1) }.enumerated()).map { (number: $0.offset, place: $0.element) }
    }

    /// Writes the table with the worst first, the timeline, and the cards.
    ///
    /// - Parameters:
    ///   - tones: The tones and their names, in the order of the columns.
    ///   - untimed: The heading for captures without a time.
    /// - Throws: `io.failed`.
    package func write(
        to target: OutputTarget, timeline: String, tones: [(tone: Tone, name: String)], untimed: String,
        table: PageTable
    ) throws(BundleError) {
        let places = ordered
        try writeTable(places, table, to: target)
        let days = days
        if !days.isEmpty {
            try target.write(Self.timeline(timeline, tones, days))
        }
        try target.write(
            "<section aria-labelledby=\"captures\">\n<h2 id=\"captures\">Captures</h2>\n<div class=\"days\">\n")
        try writeCards(places, to: target, untimed: untimed)
        try target.write("</div>\n</section>\n")
    }

    /// Each row links to its card. The first row of each kind has an identifier, to which the counts at the top link.
    private func writeTable(
        _ places: [(number: Int, place: Place)], _ table: PageTable, to target: OutputTarget
    ) throws(BundleError) {
        try target.write("<section aria-labelledby=\"table\">\n<h2 id=\"table\">Table</h2>\n\(table.opening)")
        var last: Int?
        let sorted = places.sorted { ($0.place.kind.rank, $0.number) < ($1.place.kind.rank, $1.number) }
        for (number, place) in sorted {
            let mark: HTML? = last == place.kind.rank ? nil : " id=\"\(place.kind.anchor)\""
            last = place.kind.rank
            try target.write("<tr\(mark)><th scope=\"row\"><a href=\"#capture-\(number)\">")
            try target.write(temporary.read(place.row, at: place.offset + place.card))
        }
        try target.write("\(PageTable.closing)</section>\n")
    }

    private func writeCards(
        _ places: [(number: Int, place: Place)], to target: OutputTarget, untimed: String
    ) throws(BundleError) {
        var current: PageDay??
        for (number, place) in places {
            let day = place.time.map { PageDay($0) }
            if current != .some(day) {
                if current != nil { try target.write("</div>\n</div>\n") }
                try target.write(Self.heading(day, untimed))
                current = .some(day)
            }
            try target.write("<article class=\"card\" id=\"capture-\(number)\">\n")
            try target.write(temporary.read(place.card, at: place.offset))
        }
        if current != nil { try target.write("</div>\n</div>\n") }
    }

    private static func heading(_ day: PageDay?, _ untimed: String) -> HTML {
        guard let day else { return "<div class=\"day\">\n<h3>\(untimed)</h3>\n<div class=\"cards\">\n" }
        let title: HTML = "<time datetime=\"\(day.date)\">\(day.words)</time>"
        return "<div class=\"day\">\n<h3 id=\"day-\(day.date)\">\(title)</h3>\n<div class=\"cards\">\n"
    }

    /// A table with a bar for each day.
    private static func timeline(
        _ caption: String, _ tones: [(tone: Tone, name: String)], _ days: [(day: PageDay, counts: [Tone: Int])]
    ) -> HTML {
        let used = tones.filter { entry in days.contains { $0.counts[entry.tone] != nil } }
        let columns =
            [.init("Day"), .init("Captures", isNumber: true), .init("Share")]
            + used.map { PageTable.Column($0.name, isNumber: true) }
        let most = days.map { $0.counts.values.reduce(0, +) }.max() ?? 1
        let rows = days.map { day, counts in
            let total = counts.values.reduce(0, +)
            let link: HTML = "<a href=\"#day-\(day.date)\"><time datetime=\"\(day.date)\">\(day.words)</time></a>"
            return [link, "\(total)", bar(used, counts, most: most)] + used.map { "\(counts[$0.tone] ?? 0)" as HTML }
        }
        return """
            <section aria-labelledby="days">
            <h2 id="days">Days</h2>
            \(PageTable(caption, columns).html(rows))</section>

            """
    }

    /// Makes the bar of a day. It is hidden from screen readers, because the other cells have the numbers.
    private static func bar(_ used: [(tone: Tone, name: String)], _ counts: [Tone: Int], most: Int) -> HTML {
        var start = 0
        var parts: [HTML] = []
        for tone in used.map(\.tone) {
            let count = counts[tone] ?? 0
            guard count > 0 else { continue }
            parts.append("<rect class=\"\(tone.name)\" x=\"\(start)\" width=\"\(count)\" height=\"1\"/>")
            start += count
        }
        return """
            <svg class="bar" aria-hidden="true" viewBox="0 0 \(most) 1" preserveAspectRatio="none">\(parts)</svg>
            """
    }
}

extension OutputTarget {
    package func write(_ html: HTML) throws(BundleError) { try write(Array(html.source.utf8)) }
}

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
