import CaptureBundle
import CapturePages
import CommandSupport
import SystemPackage

/// The page of `capbundle report`, and its table for spreadsheets.
final class BundleReport {
    private let page: ReportPage
    private let places: [OutputPlace]
    private let target: OutputTarget
    private let table: OutputTarget?
    private let captures: ReportCaptures
    private var words: [String: Int] = [:]
    private var kinds: [ReportedBundle.Kind: Int] = [:]
    private var statuses: Set<ExitStatus> = []
    private var notProven: [String] = []
    private let devices: DeviceNames
    private let chains = ChainCollection()

    /// - Parameter csv: Where to write the table; nil to write none.
    /// - Throws: `output.exists`, `output.unusable`.
    init(title: String, page place: OutputPlace, csv: OutputPlace?, devices: DeviceNames) throws {
        self.devices = devices
        page = ReportPage(title: title, maker: "capbundle \(ProductVersion.current)")
        places = [place] + (csv.map { [$0] } ?? [])
        try OutputPlace.examine(places)
        target = try OutputTarget(place)
        table = try csv.map { try OutputTarget($0) }
        captures = ReportCaptures(.oldestFirst)
        try table?.write(CSVLine(ReportedBundle.columns).bytes)
    }

    var isEmpty: Bool { captures.count == 0 }

    var status: ExitStatus { ExitStatus.worst(statuses) }

    /// Adds a bundle. The page and the table never replace a file that was read for them.
    ///
    /// - Throws: `io.failed`, `output.unusable`.
    func add(_ bundle: ReportedBundle) throws {
        if bundle.file != "-" {
            for place in places { try place.refuse(inputs: [FilePath(bundle.file)]) }
        }
        try captures.add(bundle.entry)
        try table?.write(bundle.line)
        if let link = bundle.link { try chains.add(link, file: bundle.file) }
        words[bundle.word, default: 0] += 1
        kinds[bundle.kind, default: 0] += 1
        statuses.insert(bundle.status)
        for topic in bundle.notProven where !notProven.contains(topic) { notProven.append(topic) }
    }

    /// The number of bundles of each kind, such as `12 bundles: 10 verified, 2 altered`.
    var summary: String {
        let parts = ReportedBundle.words.compactMap { word in
            words[word].map { "\(Quantity.number($0, on: .messages)) \(word)" }
        }
        return "\(Quantity.count(captures.count, "bundle", on: .messages)): \(parts.joined(separator: ", "))"
    }

    /// Writes the page, and gives both files their names.
    ///
    /// - Throws: `io.failed`, `output.exists`.
    func finish() throws {
        let tiles = ReportedBundle.Kind.allCases.compactMap { kind in
            kinds[kind].map { ReportPage.tile(Rounded.grouped($0), kind.tone.badge(kind.words), to: ReportKind(kind)) }
        }
        let total = ReportPage.tile(
            Rounded.grouped(captures.count), captures.count == 1 ? "capture" : "captures", to: nil)
        let lead: HTML = "Each bundle was read once: what the page shows is what was verified. Times are in UTC."
        try target.write(page.opening(lead: lead, tiles: [total] + tiles))
        try captures.write(
            to: target, timeline: "Captures of each day, by the time that the device claims",
            tones: [
                (.good, "Verified"), (.doubtful, "Sound, but incomplete or not accepted"), (.bad, "Damaged"),
            ], untimed: "Without a signed time", table: ReportedBundle.table)
        if !chains.isEmpty { try writeChains() }
        try target.write(limits)
        try target.write(page.closing([]))
        try target.commit()
        try table?.commit()
    }

    /// Writes a drawing of the chain of each device.
    private func writeChains() throws {
        try target.write(ReportChain.opening)
        var drawing: ReportChain?
        try chains.walk { event in
            switch event {
            case .begin(let key): drawing = ReportChain(title: title(key))
            case .link: break
            case .run(let seqs): drawing?.add(run: seqs)
            case .fault(let fault): drawing?.add(fault, files: try chains.files(fault))
            case .end(let summary):
                if let drawing { try target.write(drawing.html(ChainRendering.lines(summary))) }
            }
        }
        try target.write(ReportChain.closing)
    }

    private func title(_ key: Digest) -> HTML {
        let id: HTML = "<span class=\"mono\">\(key.description)</span>"
        guard let device = devices.device(key) else { return "Device not in the trust file, key \(id)" }
        return "\(foreign: device.name)\(device.isRevoked ? " (revoked)" : ""), key \(id)"
    }

    /// The section with all topics that a verdict on the page does not prove. The cards link to it.
    private var limits: HTML {
        let lines = notProven.compactMap { topic in
            ReportRendering.explanation(topic).map { "<li id=\"not-\(topic)\">\($0)</li>\n" as HTML }
        }
        if lines.isEmpty { return "" }
        return """
            <section aria-labelledby="limits">
            <h2 id="limits">Not checked or not proven</h2>
            <ul>
            \(lines)</ul>
            </section>

            """
    }
}
