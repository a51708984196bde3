import CaptureBundle
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
        verdict = VerdictWords(shown.report, isRevoked: shown.device?.isRevoked ?? false)
    }

    var page: Page {
        let content: HTML = """
            \(verdict.tone.box(verdict.words, verdict.meaning))\(findings)\(pictures)<h2>What the capture says</h2>
            \(facts)\(limits)\(bundle)\(ownCheck)
            """
        let footer: HTML = """
            <p>This page was made when you opened it: the receiver read the stored bundle and verified it. You trust this \
            server when you trust this page.</p>

            """
        return Page(title: "\(verdict.words): capture \(id)", content: content, footer: footer)
    }

    private var findings: HTML? {
        let lines =
            report.faults.map { VerdictWords.finding($0) }
            + report.warnings.map { "warning: \(VerdictWords.finding($0))" }
        guard !lines.isEmpty else { return nil }
        return "<ul>\n\(lines.map { "<li>\(foreign: $0)</li>\n" as HTML })</ul>\n"
    }

    // MARK: - Pictures

    private var pictures: HTML? {
        guard shown.view.isSound else {
            return "<p>Photo and depth map are not shown, because the bundle is damaged.</p>\n"
        }
        let figures = [photo, depth].compactMap(\.self)
        let reason: HTML? =
            shown.content.lacksPicture
            ? "<p class=\"soft\">A picture is missing, because this receiver cannot decode it.</p>\n" : nil
        return "\(figures.isEmpty ? nil : "<div class=\"pictures\">\n\(figures)</div>\n" as HTML)\(reason)"
    }

    private var photo: HTML? {
        guard let photo = shown.content.photo else {
            guard report.withheld.contains(.photo) else { return nil }
            return "<p>The photo is withheld: it was left out before the bundle was sent.</p>\n"
        }
        return """
            <figure><img src="\(id)/photo.jpg" width="\(photo.width)" height="\(photo.height)" \
            alt="The photo of this capture"><figcaption>The photo, encoded again for this page</figcaption></figure>

            """
    }

    private var depth: HTML? {
        guard let depth = shown.content.depth else { return nil }
        return """
            <figure><img src="\(id)/depth.jpg" width="\(depth.width)" height="\(depth.height)" \
            alt="The depth map in false colours: near is bright, far is dark, grey is not measured">\
            <figcaption>\(scale)</figcaption></figure>

            """
    }

    private var scale: HTML {
        guard let span = shown.content.depthSpan else { return "The depth map. No sample is measured." }
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
        if shown.hidesPlace { return "not shown: the operator of this receiver hides all places" }
        if let position = shown.view.position {
            return "latitude \(position.latitude), longitude \(position.longitude), as the device claims"
        }
        guard report.manifest?.entry(.location) != nil else { return "not in the capture" }
        if report.withheld.contains(.location) { return "withheld: it was left out before the bundle was sent" }
        return "not shown, because the bundle is damaged"
    }

    private var depthFacts: HTML {
        guard let size = report.manifest?.depth?.size else { return "not in the capture" }
        let samples: HTML = "\(size.width) × \(size.height) samples"
        if report.withheld.contains(.depth) { return "\(samples), withheld" }
        guard let found = shown.view.depthStatistics else { return samples }
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
        let button: HTML = "<p><a class=\"button\" href=\"\(id)/bundle\" download>Download the bundle</a></p>\n"
        let text: HTML
        switch shown.content.download {
        case .whole:
            let lacking: HTML? = report.withheld.isEmpty ? nil : " The withheld parts are not in it."
            text = """
                \(button)<p>One signed file with the photo, the depth map and all facts, as it was sent.\(lacking)</p>

                """
        case .withoutPlace(let leftOut) where leftOut.isEmpty:
            text = "\(button)<p>One signed file. It does not contain a place.</p>\n"
        case .withoutPlace(let leftOut):
            text = """
                \(button)<p>One signed file without the place: \(leftOut.joined(separator: ", ")) \
                \(leftOut.count == 1 ? "is" : "are") left out. The signature is still valid.</p>

                """
        case .refused(let reason):
            text = "<p>The bundle cannot be downloaded, because the operator hides all places: \(reason).</p>\n"
        }
        return "<h2>The bundle</h2>\n\(text)"
    }

    private var ownCheck: HTML? {
        if case .refused = shown.content.download { return nil }
        guard let line = shown.device?.currentLine.text else { return nil }
        let isWhole = report.withheld.isEmpty && !shown.hidesPlace
        let withheld: HTML? = isWhole ? nil : " Check \u{201c}Accept bundles with withheld entries\u{201d} there."
        let page: HTML = shown.hasVerifyPage ? "<a href=\"../verify.html\">verify.html</a>" : "verify.html"
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
