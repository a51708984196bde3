import CaptureBundle

/// The operator's list: 50 captures on a page, the latest arrival first.
struct CaptureListPage {
    private let search: CaptureSearch
    private let rows: [CaptureRow]
    /// The number before which the next page begins; nil on the last page.
    private let next: Int?
    private let devices: [(id: String, name: String)]
    private let revoked: Set<String>
    private let publicURL: PublicURL

    private static let length = 50

    /// Reads the captures. It blocks.
    init(_ search: CaptureSearch, _ shelf: CaptureShelf, _ publicURL: PublicURL) throws {
        self.search = search
        self.publicURL = publicURL
        let revoked = try shelf.devices.revoked()
        self.revoked = revoked
        devices = try shelf.captures.devices()
        // One capture more than the page shows tells whether there is a next page.
        let found = try shelf.captures.search(
            day: search.day, device: search.device,
            among: search.verdict.map { DeviceChoice(ids: revoked, isWanted: $0 == .revoked) },
            before: search.before, limit: Self.length + 1)
        rows = Array(found.prefix(Self.length))
        next = found.count > Self.length ? rows.last?.number : nil
    }

    var page: Page {
        let older: HTML? = next.map {
            "<p><a class=\"button\" href=\"/?\(search.query(before: $0))\">Older captures</a></p>\n"
        }
        let content: HTML = """
            <h1>Received captures</h1>
            \(form)\(rows.isEmpty ? Self.nothing : table)\(older)
            """
        let footer: HTML = """
            <p>A verdict in this list is that of the arrival. The page of a capture verifies the stored bundle again.</p>

            """
        return Page(title: "Received captures", content: content, footer: footer, hasForm: true)
    }

    private static let nothing: HTML = "<p>No capture fits.</p>\n"

    private var form: HTML {
        let devices = devices.map { option($0.id, "\($0.name) (\($0.id))", isChosen: $0.id == search.device) }
        let verdicts = CaptureSearch.Verdict.allCases.map {
            option($0.rawValue, $0.words, isChosen: $0 == search.verdict)
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
        isChosen
            ? "<option value=\"\(value)\" selected>\(words)</option>" : "<option value=\"\(value)\">\(words)</option>"
    }

    private var table: HTML {
        """
        <div class="scroll" role="region" tabindex="0" aria-label="Received captures">
        <table>
        <caption>\(rows.count == 1 ? "1 capture" : "\(rows.count) captures")\(next == nil ? "" : ", and older ones")\
        </caption>
        <thead><tr><th scope="col">Picture</th><th scope="col">Captured, as the device claims</th>\
        <th scope="col">Device</th><th scope="col">Verdict</th><th scope="col">Place</th><th scope="col">Received</th>\
        </tr></thead>
        <tbody>
        \(rows.map(row))</tbody>
        </table>
        </div>

        """
    }

    private func row(_ row: CaptureRow) -> HTML {
        let badge =
            revoked.contains(row.device)
            ? Tone.doubtful.badge("device revoked") : Tone.good.badge(row.verdict)
        return """
            <tr><td><img src="/thumbnails/\(row.id)" width="96" height="72" alt="" loading="lazy"></td>\
            <th scope="row"><a href="\(publicURL.page(of: row.id))">\(PageTime.html(written: row.capturedAt))</a></th>\
            <td>\(foreign: row.deviceName)</td><td class="nowrap">\(badge)</td>\
            <td>\(row.hasPlace ? "in the bundle" : "not in the bundle")</td>\
            <td>\(PageTime.html(milliseconds: row.receivedAt))</td></tr>

            """
    }
}
