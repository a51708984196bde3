import CaptureBundle
import CapturePages

/// The operator's list: 50 captures on a page, the latest arrival first.
struct CaptureListPage {
    private let search: CaptureSearch
    private let rows: [(capture: CaptureRow, state: BundleState)]
    /// The number before which the next page begins; nil on the last page.
    private let next: Int?
    private let devices: [(id: String, name: String)]
    private let revoked: Set<String>

    private static let length = 50

    /// Reads the captures and their stored copies. It blocks.
    init(_ search: CaptureSearch, _ depot: Depot) throws {
        self.search = search
        revoked = try depot.devices.revoked()
        devices = try depot.index.devices()
        // One capture more than the page shows tells whether there is a next page.
        let found = try depot.index.search(search, revoked: revoked, limit: Self.length + 1)
        rows = found.prefix(Self.length).map { ($0, depot.state(of: $0.id)) }
        next = found.count > Self.length ? rows.last?.capture.number : nil
    }

    var page: Page {
        let older: HTML? = next.map {
            "<p><a class=\"button\" href=\"/?\(search.query(before: $0))\">Older captures</a></p>\n"
        }
        let footer: HTML = """
            The stored copies were read for this list. A copy that was passed on is read when you open the page of its \
            capture.
            """
        return Page(
            title: "Received captures",
            content: "<h1>Received captures</h1>\n\(form)\(rows.isEmpty ? "<p>No capture fits.</p>\n" : table)\(older)",
            footer: [footer], hasForm: true)
    }

    private var form: HTML {
        let devices = devices.map { option($0.id, "\($0.name) (\($0.id))", isChosen: $0.id == search.device) }
        let verdicts = CaptureSearch.Verdict.allCases.map {
            option(
                $0.rawValue, $0 == .verified ? "verified" : "not acceptable: device revoked",
                isChosen: $0 == search.verdict)
        }
        return """
            <form method="get" action="/">
            <div><label for="day">Day of capture (UTC)</label>\
            <input id="day" name="day" type="date" value="\(search.day ?? "")"></div>
            <div><label for="device">Device</label>\
            <select id="device" name="device"><option value="">all</option>\(devices)</select></div>
            <div><label for="verdict">Verdict</label>\
            <select id="verdict" name="verdict"><option value="">all</option>\(verdicts)</select></div>
            <div><button class="button" type="submit">Search</button></div>
            \(search.isEmpty && search.before == nil ? nil : "<div><a href=\"/\">Show all</a></div>\n" as HTML)</form>

            """
    }

    private func option(_ value: String, _ words: String, isChosen: Bool) -> HTML {
        "<option value=\"\(value)\"\(isChosen ? " selected" as HTML : nil)>\(words)</option>"
    }

    private var table: HTML {
        let count = rows.count == 1 ? "1 capture" : "\(rows.count) captures"
        let columns = [
            "Picture", "Captured, as the device claims", "Device", "On arrival", "Stored copy", "Place", "Received",
        ]
        let table = PageTable("\(count)\(next == nil ? "" : ", and older ones")", columns.map { .init($0) })
        return "\(table.opening)\(rows.map { row($0.capture, $0.state) })\(PageTable.closing)"
    }

    private func row(_ row: CaptureRow, _ state: BundleState) -> HTML {
        let verdict: HTML =
            if revoked.contains(row.device) {
                Tone.doubtful.badge("device revoked")
            } else if row.verdict == "verified" {
                "verified"
            } else {
                Tone.doubtful.badge("verified, entries withheld")
            }
        return """
            <tr><td><img src="/thumbnails/\(row.id)" width="96" height="72" alt="" loading="lazy"></td>\
            <th scope="row"><a href="/verify/\(row.id)">\(PageTime.html(written: row.capturedAt))</a></th>\
            <td>\(foreign: row.deviceName)</td><td>\(verdict)</td><td>\(Self.words(state))</td>\
            <td>\(row.hasPlace ? "in the bundle" : "not in the bundle")</td>\
            <td>\(PageTime.html(CaptureTime(clamping: row.receivedAt)))</td></tr>

            """
    }

    private static func words(_ state: BundleState) -> HTML {
        switch state {
        case .unchanged: Tone.good.badge("unchanged")
        case .damaged: Tone.bad.badge("damaged")
        case .passedOn: "passed on"
        case .gone: Tone.bad.badge("gone")
        }
    }
}
