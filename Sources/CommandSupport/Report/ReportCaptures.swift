package import CaptureBundle

/// The parts of a page about one capture: its card, and its row of the table.
package struct ReportEntry: Sendable {
    /// The Unix time in milliseconds at which the capture was made or pushed; nil if no valid signature covers the time.
    package let time: Int?
    package let tone: ReportTone
    let card: [UInt8]
    let row: [UInt8]

    package init(time: Int?, card: ReportCard, row: HTML) {
        self.time = time
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
        let time: Int?
        let tone: ReportTone
        let offset: Int
        let card: Int
        let row: Int
    }

    private let order: Order
    private let spool: TextSpool
    private var places: [Place] = []

    /// - Throws: `output.unusable`.
    package init(_ order: Order) throws(BundleError) {
        self.order = order
        spool = try TextSpool()
    }

    package var count: Int { places.count }

    /// - Throws: `io.failed`.
    package func add(_ entry: ReportEntry) throws(BundleError) {
        let offset = try spool.append(entry.card)
        _ = try spool.append(entry.row)
        places.append(
            Place(time: entry.time, tone: entry.tone, offset: offset, card: entry.card.count, row: entry.row.count))
    }

    /// The number of captures of each day and tone.
    private var days: [(day: ReportDay, counts: [ReportTone: Int])] {
        var counts: [ReportDay: [ReportTone: Int]] = [:]
        for place in places {
            guard let time = place.time else { continue }
            counts[ReportDay(milliseconds: time), default: [:]][place.tone, default: 0] += 1
        }
        let sorted = counts.keys.sorted()
        return (order == .oldestFirst ? sorted : sorted.reversed()).map { ($0, counts[$0] ?? [:]) }
    }

    /// The captures in the order of the page. Captures without a time come first, in the order in which they were added.
    private var ordered: [Place] {
        func key(_ place: Place) -> (Int, Int, Int) {
            guard let time = place.time else { return (0, 0, place.offset) }
            return (1, order == .oldestFirst ? time : ~time, place.offset)
        }
        return places.sorted { key($0) < key($1) }
    }

    /// Writes the timeline, the cards and the table.
    ///
    /// - Parameters:
    ///   - tones: The tones and their names, in the order of the columns.
    ///   - untimed: The heading for captures without a time.
    /// - Throws: `io.failed`.
    package func write(
        to target: TextTarget, timeline: String, tones: [(tone: ReportTone, name: String)], untimed: String,
        table: ReportTable
    ) throws(BundleError) {
        let days = days
        if !days.isEmpty {
            let lines = ReportTimeline(caption: timeline, tones: tones, days: days)
            try target.write(lines.html)
        }
        try target.write(
            "<section aria-labelledby=\"captures\">\n<h2 id=\"captures\">Captures</h2>\n<div class=\"days\">\n")
        let places = ordered
        try writeCards(places, to: target, untimed: untimed)
        try target.write("</div>\n</section>\n<section aria-labelledby=\"table\">\n<h2 id=\"table\">Table</h2>\n")
        try target.write(table.opening)
        for place in places { try target.write(spool.read(place.row, at: place.offset + place.card)) }
        try target.write(HTML([ReportTable.closing, "</section>\n"]))
    }

    private func writeCards(_ places: [Place], to target: TextTarget, untimed: String) throws(BundleError) {
        var current: ReportDay??
        for place in places {
            let day = place.time.map { ReportDay(milliseconds: $0) }
            if current != .some(day) {
                if current != nil { try target.write("</div>\n</div>\n") }
                try target.write(Self.heading(day, untimed))
                current = .some(day)
            }
            try target.write(spool.read(place.card, at: place.offset))
        }
        if current != nil { try target.write("</div>\n</div>\n") }
    }

    private static func heading(_ day: ReportDay?, _ untimed: String) -> HTML {
        guard let day else { return "<div class=\"day\">\n<h3>\(untimed)</h3>\n<div class=\"cards\">\n" }
        let title: HTML = "<time datetime=\"\(day.date)\">\(day.words)</time>"
        return "<div class=\"day\">\n<h3 id=\"day-\(day.date)\">\(title)</h3>\n<div class=\"cards\">\n"
    }
}

/// A table with a bar for each day.
private struct ReportTimeline {
    let caption: String
    let tones: [(tone: ReportTone, name: String)]
    let days: [(day: ReportDay, counts: [ReportTone: Int])]

    var html: HTML {
        let used = tones.filter { entry in days.contains { $0.counts[entry.tone] != nil } }
        let columns =
            [.init("Day"), .init("Captures", isNumber: true), .init("Share")]
            + used.map { ReportTable.Column($0.name, isNumber: true) }
        let most = days.map { $0.counts.values.reduce(0, +) }.max() ?? 1
        let rows = days.map { day, counts in
            let total = counts.values.reduce(0, +)
            let link: HTML = "<a href=\"#day-\(day.date)\"><time datetime=\"\(day.date)\">\(day.words)</time></a>"
            return [link, "\(total)", bar(used, counts, most)] + used.map { "\(counts[$0.tone] ?? 0)" as HTML }
        }
        return """
            <section aria-labelledby="days">
            <h2 id="days">Days</h2>
            \(ReportTable(caption, columns).html(rows))</section>

            """
    }

    /// Makes the bar of a day. It is hidden from screen readers, because the other cells have the numbers.
    private func bar(_ used: [(tone: ReportTone, name: String)], _ counts: [ReportTone: Int], _ most: Int) -> HTML {
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

extension TextTarget {
    package func write(_ html: HTML) throws(BundleError) { try write(Array(html.source.utf8)) }
}
