import CaptureBundle
import CapturePages
import Foundation

/// The page for people about one capture.
struct CapturePage {
    private let shown: ShownCapture
    private let report: VerificationReport
    private let verdict: VerdictWords
    private let id: String

    init(_ shown: ShownCapture) {
        self.shown = shown
        report = shown.report
        id = shown.row.id
        verdict = VerdictWords(shown)
    }

    var page: Page {
        let content: HTML = """
            \(verdict.tone.box(verdict.words, verdict.meaning))\(findings)\(pictures)<h2>What the capture says</h2>
            \(facts)\(limits)\(bundle)\(ownCheck)
            """
        let others: HTML? =
            shown.seesAll ? "<p>The address for others: <a href=\"\(address)\">\(address)</a></p>\n" : nil
        let footer: HTML = """
            \(others)<p>This page was made when you opened it: the receiver read the stored bundle and checked it. You trust \
            this server when you trust this page.</p>

            """
        return Page(title: "\(verdict.words): capture \(id)", content: content, footer: footer)
    }

    private var address: String { shown.publicURL.page(of: id) }

    private var findings: HTML? {
        // A warning about an entry can repeat what the entry says.
        let hidden = shown.hidden.map(\.description)
        let warnings = report.warnings.filter { $0.entry.map { !hidden.contains($0) } ?? true }
        let lines =
            report.faults.map { VerdictWords.finding($0) }
            + warnings.map { "warning: \(VerdictWords.finding($0))" }
        guard !lines.isEmpty else { return nil }
        return "<ul>\n\(lines.map { "<li>\(foreign: $0)</li>\n" as HTML })</ul>\n"
    }

    // MARK: - Pictures

    private var pictures: HTML? {
        guard shown.checked.isSound else {
            return "<p>Photo and depth map are not shown, because the bundle is damaged.</p>\n"
        }
        let figures = [photo, depth].compactMap(\.self)
        let reason: HTML? =
            shown.checked.lacksPicture
            ? "<p class=\"soft\">A picture is missing, because this receiver cannot decode it.</p>\n" : nil
        return "\(figures.isEmpty ? nil : "<div class=\"pictures\">\n\(figures)</div>\n" as HTML)\(reason)"
    }

    private var photo: HTML? {
        if let absence = absence(of: .photo) { return "<p>The photo is \(absence).</p>\n" }
        guard let photo = shown.photo else { return nil }
        return """
            <figure><img src="\(id)/photo.jpg" width="\(photo.width)" height="\(photo.height)" \
            alt="The photo of this capture"><figcaption>The photo, encoded again for this page</figcaption></figure>

            """
    }

    private var depth: HTML? {
        guard let depth = shown.depth else { return nil }
        return """
            <figure><img src="\(id)/depth.jpg" width="\(depth.width)" height="\(depth.height)" \
            alt="The depth map in false colours: near is bright, far is dark, grey is not measured">\
            <figcaption>\(scale)</figcaption></figure>

            """
    }

    private var scale: HTML {
        guard let span = shown.checked.depthSpan else { return "The depth map. No sample is measured." }
        return """
            The depth map in false colours. Grey is not measured.<span class="scale"></span>\
            <span class="ends"><span>\(Self.metres(span.lowerBound)) (near)</span>\
            <span>\(Self.metres(span.upperBound)) (far)</span></span>
            """
    }

    static func metres(_ value: Float) -> String { String(format: "%.2f\u{a0}m", Double(value)) }

    // MARK: - Facts

    private var facts: HTML {
        var rows: [(name: String, value: HTML)] = []
        rows.append(("Captured", captured))
        rows.append(("Received", "\(PageTime.html(milliseconds: shown.row.receivedAt)), by the clock of this receiver"))
        rows.append(("Stored copy", shown.isAsItArrived ? "read now: as it arrived" : "read now: not as it arrived"))
        rows.append(("Device", device))
        if let manifest = report.manifest {
            rows.append(("Key id", "<span class=\"mono\">\(manifest.device.keyID.description)</span>"))
        }
        if let model = report.metadata?.deviceModel { rows.append(("Model", "\(foreign: model)\(claimed)")) }
        rows.append(("Place", place))
        rows.append(("Depth map", depthFacts))
        if let chain = report.manifest?.chain {
            rows.append(("Chain", "capture \(chain.seq) of this device\(claimed)"))
        }
        rows.append(("Size", "\(report.bytes) bytes"))
        rows.append(("Capture id", "<span class=\"mono\">\(id)</span>"))
        return "<dl class=\"facts\">\n\(rows.map { "<dt>\($0.name)</dt><dd>\($0.value)</dd>\n" as HTML })</dl>\n"
    }

    /// The mark for facts that no valid signature covers.
    private var claimed: String { report.isManifestGenuine ? "" : " (anyone could have written this)" }

    private var captured: HTML {
        guard let manifest = report.manifest else { return "not readable" }
        let written = report.metadata?.capturedAtText ?? manifest.capturedAt.description
        return "\(PageTime.html(written: written)), as the device claims\(claimed)"
    }

    private var device: HTML {
        guard report.isManifestGenuine, let device = shown.device, let data = report.authenticatorData else {
            return "not known"
        }
        let key = data.kind == .apple ? "an Apple key" : "a key on disk"
        return "\(foreign: device.line.name), \(key)\(device.isRevoked ? ", revoked" : "")"
    }

    private var place: HTML {
        if let absence = absence(of: .location) { return absence }
        if let position = shown.checked.position {
            return "latitude \(position.latitude), longitude \(position.longitude), as the device claims"
        }
        return report.manifest?.entry(.location) == nil
            ? "not in the capture" : "not shown, because the bundle is damaged"
    }

    /// Says why the reader does not get an entry of the capture; nil if nobody withholds it.
    private func absence(of path: EntryPath) -> HTML? {
        if report.withheld.contains(path) { return "withheld: it was left out before the bundle was sent" }
        return shown.hides(path) ? "shown only to the operator of this receiver" : nil
    }

    private var depthFacts: HTML {
        guard let size = report.manifest?.depth?.size else { return "not in the capture" }
        let samples: HTML = "\(size.width) × \(size.height) samples"
        if let absence = absence(of: .depth) { return "\(samples), \(absence)" }
        guard let found = shown.checked.depthStatistics else { return samples }
        guard let nearest = found.minimum, let farthest = found.maximum else { return "\(samples), none is measured" }
        let share = String(format: "%.1f\u{a0}%%", found.measuredShare * 100)
        return "\(samples), \(Self.metres(nearest)) to \(Self.metres(farthest)), \(share) measured"
    }

    // MARK: - What follows

    private var limits: HTML? {
        let lines = report.notChecked.compactMap { VerdictWords.explanation($0) }
        guard !lines.isEmpty else { return nil }
        return """
            <section aria-labelledby="limits">
            <h2 id="limits">What is not proven</h2>
            <ul>
            \(lines.map { "<li>\($0)</li>\n" as HTML })</ul>
            </section>

            """
    }

    private var bundle: HTML {
        if let refusal {
            return "<h2>The bundle</h2>\n<p>Only the operator of this receiver can download it: \(refusal).</p>\n"
        }
        let hidden = shown.hidden.map(\.description)
        let content: HTML =
            hidden.isEmpty
            ? "One signed file with everything that arrived."
            : """
            One signed file without \(hidden.joined(separator: ", ")), which only the operator of this receiver can \
            download. The signature is still valid.
            """
        return """
            <h2>The bundle</h2>
            <p><a class="button" href="\(id)/bundle" download>Download the bundle</a></p>
            <p>\(content)</p>

            """
    }

    private var refusal: String? { shown.seesAll ? nil : shown.checked.refusal }

    private var ownCheck: HTML? {
        guard refusal == nil else { return nil }
        guard let line = shown.device?.currentLine.text else { return nil }
        let isWhole = report.withheld.isEmpty && shown.hidden.isEmpty
        let withheld: HTML? = isWhole ? nil : " Check \u{201c}Accept bundles with withheld entries\u{201d} there."
        let page: HTML = CompanionFile.verifyPage != nil ? "<a href=\"../verify.html\">verify.html</a>" : "verify.html"
        return """
            <h2>Check it yourself</h2>
            <p>Download the bundle. Then ask the owner of the device for the key id, not this server, and compare it with \
            the one above.</p>
            <ul>
            <li>In a browser: open \(page), drop the bundle there, and paste the key below.\(withheld) The page sends nothing. It is \
            best to take verify.html from the capture-bundle project, because a server that cheats could change its own copy.</li>
            <li>On the command line:
            <pre><code>echo '\(line)' &gt; device.trust
            capbundle verify --trust device.trust --allow-withheld \(id).bundle</code></pre></li>
            </ul>
            <p>The key of this device:</p>
            <pre><code>\(line)</code></pre>

            """
    }
}
