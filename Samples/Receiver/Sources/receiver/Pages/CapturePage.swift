import CaptureBundle
import CapturePages
import SystemPackage

struct CapturePage {
    let shown: ShownCapture

    private var report: VerificationReport { shown.report }
    private var id: String { shown.row.id }
    private var verdict: StoredVerdict {
        StoredVerdict(report, isRevoked: shown.device?.isRevoked ?? false, isAsItArrived: shown.isAsItArrived)
    }

    var page: Page {
        let content: HTML = """
            \(verdict.html)\(verdict.tone.findings(findings))\(pictures)<h2>What the capture says</h2>
            \(facts)\(StoredVerdict.limits(report))\(bundle)\(ownCheck)
            """
        let address = shown.publicURL.page(of: id)
        let others: [HTML] =
            shown.seesAll ? ["The address for others: <a href=\"\(address)\">\(address)</a>"] : []
        let trust: HTML = """
            This page was made when you opened it: the receiver read the stored bundle and checked it. You trust \
            this server when you trust this page.
            """
        return Page(title: "\(verdict.words): capture \(id)", content: content, footer: others + [trust])
    }

    private var findings: [HTML] {
        // A warning about an entry can repeat what the entry says.
        let hidden = shown.hidden.map(\.description)
        let warnings = report.warnings.filter { $0.entry.map { !hidden.contains($0) } ?? true }
        return report.faults.map { "\(foreign: StoredVerdict.finding($0))" }
            + warnings.map { "warning: \(foreign: StoredVerdict.finding($0))" }
    }

    private var pictures: HTML? {
        guard shown.checked.isSound else {
            return "<p>Photo and depth map are not shown, because the bundle is damaged.</p>\n"
        }
        let photo = shown.photo.map {
            Figure.photo(
                "\(id)/photo.jpg", width: $0.width, height: $0.height,
                caption: "The photo, encoded again for this page")
        }
        let depth = shown.depth.map {
            Figure.depth(
                "\(id)/depth.jpg", width: $0.width, height: $0.height, caption: Figure.scale(shown.checked.depthSpan))
        }
        let absence: HTML? = absence(of: .photo).map { "<p>The photo is \($0).</p>\n" }
        let reason: HTML? =
            shown.checked.lacksPicture
            ? "<p class=\"lead\">A picture is missing, because this receiver cannot decode it.</p>\n" : nil
        return "\(absence)\(Figure.html([photo, depth].compactMap(\.self)))\(reason)"
    }

    private var facts: HTML {
        let known = BundleFacts(report, depth: shown.checked.depthStatistics)
        var list = FactList()
        let captured = report.metadata?.capturedAtText ?? report.manifest?.capturedAt.description
        list.add(
            "Captured",
            captured.map { "\(PageTime.html(written: $0)), as the device claims\(known.claimed)" } ?? "not readable")
        if let stamp = report.stamp {
            let authority = FilePath(stamp.authority).stem ?? ""
            list.add(
                "Time stamp",
                """
                the signature existed at \(PageTime.html(stamp.time))\(foreign: stamp.accuracyText), says \
                \(foreign: authority) (<a href="\(id)/stamp.tsr" download>download</a>)
                """)
        }
        list.add(
            "Received", "\(PageTime.html(CaptureTime(clamping: shown.row.receivedAt))), by the clock of this receiver")
        list.add("Stored copy", shown.isAsItArrived ? "read now: as it arrived" : "read now: not as it arrived")
        let signer = report.isManifestGenuine ? shown.device : nil
        list.add(
            "Device",
            signer.map { "\(foreign: $0.line.name), \(known.keyKind ?? "")\($0.isRevoked ? ", revoked" : "")" }
                ?? "not known")
        if let id = known.keyID { list.add("Key id", id) }
        if let model = known.model { list.add("Model", model) }
        list.add("Place", place)
        list.add("Depth map", known.depth(absence: absence(of: .depth)))
        if let chain = report.manifest?.chain {
            list.add("Chain", "capture \(chain.seq) of this device\(known.claimed)")
        }
        list.add("Size", "\(report.bytes) bytes")
        list.add("Capture id", "<span class=\"mono\">\(id)</span>")
        return list.html
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
        guard refusal == nil, let line = shown.device?.currentLine.text else { return nil }
        let isWhole = report.withheld.isEmpty && shown.hidden.isEmpty
        let withheld: HTML? = isWhole ? nil : " Check \u{201c}Accept bundles with withheld entries\u{201d} there."
        let stamp: HTML? =
            report.stamp == nil
            ? nil
            : """
            <li>The time stamp: download it to the same folder, get the certificate of the authority from the authority, and \
            add <code>--stamps --tsa-ca FILE</code>.</li>

            """
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
            \(stamp)</ul>
            <p>The key of this device:</p>
            <pre><code>\(line)</code></pre>

            """
    }
}
