import CaptureBundle
import CapturePages
import CommandSupport
import PictureClient
import PictureMessages
import SystemPackage

/// Prints the contents of a bundle, as a page or as JSON (Spec/command-line.md section 3).
enum ViewRendering {
    static func page(_ file: String, _ view: UntrustedView) -> [String] {
        let report = view.report
        var lines = [headline(file, report)]
        lines += report.faults.map { "  " + ReportRendering.finding($0) }
        lines += report.warnings.map { "  warning: " + ReportRendering.finding($0) }
        guard let manifest = report.manifest else {
            lines += Facts.table(report).lines
            if !view.unsignedEntries.isEmpty {
                lines.append("entries, read from their headers only:")
                var table = TextTable()
                for entry in view.unsignedEntries {
                    table.add(Visible.text(entry.name), Quantity.bytes(entry.size))
                }
                lines += table.lines
            }
            return lines
        }
        lines += ReportRendering.origin(report, signed: "signed with the key below").map { "  " + $0 }
        let claimed = report.isManifestGenuine ? "" : Facts.claimed
        var facts = TextTable()
        facts.add("id", manifest.id)
        facts.add("key id", manifest.device.keyID.description)
        facts.add("captured", manifest.capturedAt.description + claimed)
        if let metadata = report.metadata {
            facts.add("written as", Visible.text(metadata.capturedAtText) + claimed)
            facts.add("model", Visible.text(metadata.deviceModel) + claimed)
        }
        if let data = report.authenticatorData {
            if report.isManifestGenuine {
                facts.add("signed by", data.kind == .apple ? "an Apple key" : "a key on disk")
            }
            facts.add("counter", String(data.counter))
        }
        if let chain = manifest.chain { facts.add("chain", "capture \(chain.seq) of this device") }
        if let position = view.position {
            let text = Visible.text("latitude \(position.latitude), longitude \(position.longitude)")
            facts.add("position", text + claimed)
        }
        facts.add("size", Quantity.bytes(report.bytes))
        lines += facts.lines
        lines.append("entries:")
        lines += entries(manifest, report)
        if let depth = manifest.depth {
            lines.append("depth map:")
            lines += depthTable(depth, view.depth).lines
        }
        return lines
    }

    private static func headline(_ file: String, _ report: VerificationReport) -> String {
        let name = Visible.text(file)
        switch report.verdict {
        case .altered: return "\(name): a capture bundle whose contents or signature are WRONG; what it says:"
        case .malformed: return "\(name): NOT a well-formed capture bundle; what could be read:"
        case .verified, .unknownDevice, .unacceptable: return "\(name): a sound capture bundle; trust was not checked"
        }
    }

    private static func entries(_ manifest: Manifest, _ report: VerificationReport) -> [String] {
        var table = TextTable()
        for (entry, status) in zip(manifest.entries, report.entries) {
            let mark = entry.isWithholdable ? "\(status.rawValue), withholdable" : status.rawValue
            table.add(entry.path.description, Quantity.bytes(entry.size), mark)
        }
        // The hash is on a separate line to fit a terminal of 80 columns.
        return zip(table.lines, manifest.entries).flatMap { [$0, "    sha256 \($1.sha256)"] }
    }

    private static func depthTable(_ depth: DepthDescription, _ statistics: DepthStatistics?) -> TextTable {
        var table = TextTable()
        table.add("samples", "\(depth.size)")
        guard let statistics else {
            table.add("values", "could not be read")
            return table
        }
        let isComplete = statistics.samples <= DepthStatistics.medianLimit
        table.add("nearest", DepthRendering.metres(statistics.minimum))
        table.add("median", DepthRendering.median(statistics, isComplete: isComplete))
        table.add("farthest", DepthRendering.metres(statistics.maximum))
        table.add("missing", DepthRendering.percent(statistics.missingShare))
        DepthRendering.addMeaningless(statistics, to: &table)
        return table
    }

    static func json(_ file: String, _ view: UntrustedView) -> JSONValue {
        let members = (ReportRendering.json(file, view.report).members ?? []).filter {
            !["report", "not_checked"].contains($0.name)
        }
        let entries = view.unsignedEntries.map { entry in
            JSONValue.members(["name": .string(entry.name), "size": .integer(entry.size)])
        }
        let own = JSONValue.members([
            "report": .string("capture-bundle/show/1"), "unsigned_entries": entries.isEmpty ? nil : .array(entries),
            "depth_statistics": view.depth.map(statistics),
            "location": view.position.map {
                .members(["latitude": .number($0.latitude), "longitude": .number($0.longitude)])
            },
        ])
        return .object(members + (own.members ?? []))
    }

    static func statistics(_ depth: DepthStatistics) -> JSONValue {
        .members([
            "maximum_m": depth.maximum.map(JSONValue.real), "meaningless": .integer(depth.meaningless),
            "median_m": depth.median.map(JSONValue.real), "minimum_m": depth.minimum.map(JSONValue.real),
            "missing": .integer(depth.missing), "missing_share": .real((depth.missingShare * 1e6).rounded() / 1e6),
            "samples": .integer(depth.samples),
        ])
    }
}

/// Draws the photo and the depth map of a capture on the terminal.
enum TerminalPicture {
    static func bytes(_ view: CaptureView) throws -> [UInt8] {
        let decoder = PictureDecoder()
        let columns = Output.columns ?? 80
        switch TerminalGraphics.current {
        case .kitty:
            let png = try view.png(.cividis, beside: true, decoder, for: "standard output")
            return KittyGraphics.sequences(png: png, columns: columns)
        case .halfBlocks(let hasAllColours):
            let depth = try view.depthPicture(.cividis)
            let photo = try view.photoPicture(decoder, height: HalfBlocks.widest)
            let lines = HalfBlocks.lines(
                [(photo, true), (depth.image, false)], columns: columns, hasAllColours: hasAllColours)
            return Array(((lines + [caption(depth)]).joined(separator: "\n") + "\n").utf8)
        }
    }

    private static func caption(_ depth: DepthPicture) -> String {
        guard let span = depth.span else { return "no sample of the depth map is measured" }
        let (nearest, farthest) = (Double(span.lowerBound), Double(span.upperBound))
        let gaps = depth.hasGaps ? "; grey was not measured" : ""
        return "depth from \(Rounded.decimal(nearest, places: 2)) m (bright) to "
            + "\(Rounded.decimal(farthest, places: 2)) m (dark)\(gaps)"
    }
}
