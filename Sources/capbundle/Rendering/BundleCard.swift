import CaptureBundle
import CapturePages

/// Makes the card and the row of a bundle that could be read, with any verdict.
struct BundleCard {
    private let view: BundleView
    private let report: VerificationReport
    private let position: GeoPosition?
    private let kind: ReportedBundle.Kind
    private let facts: BundleFacts
    private let pictures: [Figure]
    /// Why a picture is missing.
    private let reason: String?

    /// - Parameter position: The position to show; nil to show only whether there is one.
    init(_ view: BundleView, position: GeoPosition?, maker: BundlePictures) {
        (self.view, self.position) = (view, position)
        (pictures, reason) = maker.cardFigures(of: view)
        report = view.report
        facts = BundleFacts(report, depth: view.depthStatistics)
        kind = .of(view.report)
    }

    var entry: ReportEntry {
        // Without a valid signature, anyone can have written the time. Such a bundle belongs to no day.
        let time = report.isManifestGenuine ? report.manifest?.capturedAt : nil
        return ReportEntry(time: time, kind: ReportKind(kind), card: card, row: row)
    }

    private var card: ReportCard {
        var card = ReportCard(kind.tone, kind.words, title: title)
        let signer = report.trustedDevice.map { "signed by \($0.name)" } ?? "signed by a device that you do not trust"
        // What was replaced says more to people than two hashes, so it comes first.
        card.findings = ReportRendering.origin(report, signed: signer).reversed().map { "\($0)" }
        if kind == .incomplete {
            card.findings.append("withheld: \(report.withheld.map(\.description).joined(separator: ", "))")
        }
        card.findings += report.faults.map { "\(ReportRendering.finding($0))" }
        card.findings += report.warnings.map { "warning: \(ReportRendering.finding($0))" }
        card.pictures = pictures
        addFacts(to: &card)
        if let reason { card.facts.add("Pictures", "\(reason)") }
        card.note = note
        return card
    }

    private var title: HTML {
        guard report.isManifestGenuine, let manifest = report.manifest else {
            return ReportedBundle.name(of: view.file)
        }
        let time = PageTime.clock(manifest.capturedAt)
        return report.trustedDevice.map { "\(time), \(foreign: $0.name)" } ?? time
    }

    private func addFacts(to card: inout ReportCard) {
        if let manifest = report.manifest {
            card.facts.add("Captured", "\(PageTime.short(manifest.capturedAt))\(facts.claimed)")
            card.facts.add("Device", device)
            if let model = facts.model { card.facts.add("Model", model) }
            card.facts.add("Place", place)
            let hasRange = view.depthStatistics != nil
            card.facts.add("Depth", facts.depth(absence: hasRange ? nil : words(of: .depth, matched: "not shown")))
        }
        card.facts.add("File", "\(foreign: view.file)")
        card.facts.add("Size", "\(Rounded.size(report.bytes))")
        if let id = facts.keyID { card.facts.add("Key id", id) }
        if let id = report.manifest?.id { card.facts.add("Capture id", "<span class=\"mono\">\(id)</span>") }
    }

    private var device: HTML {
        if !report.isManifestGenuine { return "not known" }
        let kind = facts.keyKind.map { ", \($0)" } ?? ""
        guard let device = report.trustedDevice else {
            return report.verdict == .unknownDevice ? "not in the trust file\(kind)" : "not known\(kind)"
        }
        return "\(foreign: device.name) (\(device.level.rawValue))\(kind)"
    }

    private var place: HTML {
        if let position {
            return "latitude \(position.latitude), longitude \(position.longitude)"
        }
        return words(of: .location, matched: "in the bundle, not shown")
    }

    private func words(of path: EntryPath, matched: String) -> HTML {
        guard let index = report.manifest?.entries.firstIndex(where: { $0.path == path }) else { return "none" }
        switch report.entries[index] {
        case .withheld: return Tone.doubtful.mark("withheld")
        case .altered: return Tone.bad.mark("ALTERED")
        case .unread: return "not read"
        case .matched: return "\(matched)"
        }
    }

    /// The line with links to the topics that the verdict does not cover.
    private var note: HTML? {
        let topics = report.notChecked.map { "<a href=\"#not-\($0)\">\($0)</a>" as HTML }
        guard let first = topics.first else { return nil }
        return "Not checked or not proven: \(first)\(topics.dropFirst().map { ", \($0)" as HTML })"
    }

    private var row: HTML {
        let manifest = report.manifest
        let captured: HTML =
            manifest.map { "\(PageTime.short($0.capturedAt))\(facts.claimed)" } ?? "unknown"
        // To a metre, and on one line.
        let place: HTML? = position.map { position in
            let degrees = [position.latitude, position.longitude].map { text in
                Double(text).map { Rounded.decimal($0, places: 5) } ?? text
            }
            return "<span class=\"line\">\(degrees.joined(separator: ", "))</span>"
        }
        let codes = HTML(report.faults.map { "<span class=\"line\">\($0.code.rawValue)</span> " })
        return ReportedBundle.table.linked([
            captured, kind.tone.mark(kind.words), report.faults.isEmpty ? "none" : codes,
            report.trustedDevice.map { "\(foreign: $0.name)" } ?? "—", facts.model ?? "—",
            place ?? words(of: .location, matched: "not shown"),
            "\(manifest?.depth.map { "\($0.size.width) × \($0.size.height)" } ?? "none")",
            "\(Rounded.size(report.bytes))", "\(foreign: view.file)",
        ])
    }
}
