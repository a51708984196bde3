import CaptureBundle
import CapturePages
import CaptureQueue
import CommandSupport
import QueueModel

/// The first sections of a page about a queue: totals, what needs a decision, the destinations.
struct QueueSummary {
    let status: QueueStatus
    let folder: String

    var lead: HTML {
        """
        \(foreign: folder), as it was at \(PageTime.short(CaptureTime(clamping: Environment.now))). The spool holds \
        \(Rounded.size(status.usedBytes)). Times are in UTC.
        """
    }

    var tiles: [HTML] {
        if status.totals.isEmpty { return [ReportPage.tile("0", "captures")] }
        return DeliveryState.allCases.compactMap { state in
            status.totals[state].map { total in
                ReportPage.tile(
                    Rounded.grouped(total.captures),
                    "\(state.tone.badge(state.rawValue)) <span>\(Rounded.size(total.bytes))</span>")
            }
        }
    }

    var sections: HTML { "\(decisions)\(destinations)" }

    func leftOut(_ shown: Int, of total: Int) -> HTML {
        """
        The page shows \(Rounded.grouped(shown)) of \(Rounded.grouped(total)) captures: the newest ones, and \
        those that failed or are held. The others: <code>\(capqueue("list"))</code>
        """
    }

    private var decisions: HTML? {
        let concerns = status.concerns()
        if concerns.isEmpty { return nil }
        let lines = concerns.map { concern -> HTML in
            let words = concern.words(status)
            return "<li><p>\(words.found)</p><p>\(words.advice): <code>\(words.next)</code></p></li>\n"
        }
        return Self.section("decisions", title: "Needs a decision", content: "<ul class=\"steps\">\n\(lines)</ul>\n")
    }

    private static func section(_ id: HTML, title: HTML, content: HTML) -> HTML {
        """
        <section aria-labelledby="\(id)">
        <h2 id="\(id)">\(title)</h2>
        \(content)</section>

        """
    }

    private var destinations: HTML {
        let table = PageTable(
            "Deliveries of each destination",
            [
                .init("Destination"), .init("Kind"), .init("State"), .init("Waiting", isNumber: true),
                .init("Waiting bytes", isNumber: true), .init("Uploaded", isNumber: true),
                .init("Failed for good", isNumber: true), .init("Held", isNumber: true),
            ])
        let rows = status.work.map { work -> [HTML] in
            [
                work.destination.map { "\(foreign: $0.name)" } ?? "none", "\(work.destination?.kind ?? "—")",
                "\(Self.state(of: work))", "\(Rounded.grouped(work.backlog.captures))",
                "\(Rounded.size(work.backlog.bytes))", "\(Rounded.grouped(work.count([.completed])))",
                "\(Rounded.grouped(work.count(DeliveryState.failedForGood)))",
                "\(Rounded.grouped(work.count([.held])))",
            ]
        }
        let content: HTML =
            rows.isEmpty
            ? "<p>None; add one with: <code>\(capqueue("dest add")) NAME --kind KIND ...</code></p>\n"
            : table.html(rows)
        return Self.section("destinations", title: "Destinations", content: content)
    }

    private static func state(of work: DestinationWork) -> String {
        guard let destination = work.destination else { return "waits for a destination" }
        if destination.isPaused { return "paused" }
        if let block = destination.block { return "blocked \(block.words)" }
        if destination.isRetired { return "retired" }
        return destination.isDefault ? "ready, the default" : "ready"
    }
}

extension DeliveryState {
    /// The rating of a state.
    var tone: Tone {
        switch self {
        case .completed: .good
        case .pending, .uploading, .processing, .cancelled: .neutral
        case .failed, .held: .doubtful
        case .permanentlyFailed, .conflict, .quarantined: .bad
        }
    }
}
