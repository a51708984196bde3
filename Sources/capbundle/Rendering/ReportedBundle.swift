import CaptureBundle
import CapturePages
import CommandSupport
import SystemPackage

/// The parts of a report about one bundle: a card, a row of the table, a line for spreadsheets.
struct ReportedBundle: Sendable {
    /// A kind of result, for the page. The cases are in the order of the table: the worst first, as exit codes are ordered.
    enum Kind: String, Sendable, CaseIterable {
        case unreadable, malformed, altered
        case unknownDevice = "unknown-device"
        case unacceptable
        case incomplete = "withheld"
        case verified

        static func of(_ report: VerificationReport) -> Kind {
            if report.verdict == .verified && !report.withheld.isEmpty { return .incomplete }
            // The other cases have the words of the verdicts.
            return Kind(rawValue: report.verdict.word) ?? .malformed
        }

        var words: String { look.words }
        var tone: Tone { look.tone }

        private var look: (words: String, tone: Tone) {
            let words = ReportRendering.words
            return switch self {
            case .unreadable: ("not readable", .bad)
            case .malformed: (words(.malformed), .bad)
            case .altered: (words(.altered), .bad)
            case .unknownDevice: ("sound, but \(words(.unknownDevice))", .doubtful)
            case .unacceptable: (words(.unacceptable), .doubtful)
            case .incomplete: ("\(words(.verified)), entries withheld", .doubtful)
            case .verified: (words(.verified), .good)
            }
        }
    }

    /// The word of JSON and CSV for a file that cannot be read.
    static let unreadable = "unreadable"
    /// The words of JSON and CSV, in the order in which a message counts them.
    static let words = Verdict.allCases.map(\.word) + [unreadable]

    /// As given.
    let file: String
    let entry: ReportEntry
    let line: [UInt8]
    /// The word of JSON and CSV for the verdict.
    let word: String
    let kind: Kind
    let status: ExitStatus
    let bytes: Int
    /// Why the file cannot be read; nil if it was read.
    let error: BundleError?
    /// The topics that the verdict does not cover.
    let notProven: [String]
    /// nil if the manifest is not genuine or has no chain.
    let link: LinkRecord?

    init(_ outcome: BundleView.Outcome, _ pictures: BundlePictures, withoutPosition: Bool) {
        file = outcome.file
        switch outcome.result {
        case .success(let view):
            let position = withoutPosition ? nil : view.position
            entry = BundleCard(view, position: position, maker: pictures).entry
            line = CSVLine(Self.cells(view, position)).bytes
            (word, kind, status) = (view.report.verdict.word, .of(view.report), ExitStatus(view.report.verdict))
            (bytes, error) = (view.report.bytes, nil)
            notProven = view.report.notChecked
            link = LinkRecord(view.report)
        case .failure(let failure):
            entry = Self.entry(outcome.file, failure)
            (word, kind, status) = (Self.unreadable, .unreadable, ExitStatus(failure))
            (bytes, error) = (0, failure)
            let blank = Array(repeating: "", count: Self.columns.count - 4)
            line = CSVLine([file, word, String(status.rawValue)] + blank + [failure.code.rawValue]).bytes
            (notProven, link) = ([], nil)
        }
    }

    /// The entry for a file that cannot be read.
    private static func entry(_ file: String, _ failure: BundleError) -> ReportEntry {
        let kind = Kind.unreadable
        var card = ReportCard(kind.tone, kind.words, title: name(of: file))
        card.findings = ["\(failure.message) [\(failure.code.rawValue)]"]
        card.facts.add("File", "\(foreign: file)")
        let row = table.linked(
            ["unknown", kind.tone.mark(kind.words), "\(failure.code.rawValue)"] + Array(repeating: "—", count: 5)
                + ["\(foreign: file)"])
        return ReportEntry(time: nil, kind: ReportKind(kind), card: card, row: row)
    }

    /// The title of a card without a time: the name of the file, without its folders.
    static func name(of file: String) -> HTML {
        "\(foreign: file == "-" ? "standard input" : FilePath(file).lastComponent?.string ?? file)"
    }

    static let table = PageTable(
        "All captures",
        [
            .init("Captured (UTC)"), .init("Verdict"), .init("Findings"), .init("Device"), .init("Model"),
            .init("Place"),
            .init("Depth"), .init("Size", isNumber: true), .init("File"),
        ])

    // MARK: - Spreadsheets

    static let columns = [
        "file", "verdict", "exit_code", "id", "captured_at", "device", "level", "key_id", "device_model", "latitude",
        "longitude", "depth", "bytes", "withheld", "findings",
    ]

    private static func cells(_ view: BundleView, _ position: GeoPosition?) -> [String] {
        let report = view.report
        let manifest = report.manifest
        return [
            view.file, report.verdict.word, String(report.verdict.rawValue), manifest?.id ?? "",
            manifest?.capturedAt.description ?? "", report.trustedDevice?.name ?? "",
            report.trustedDevice?.level.rawValue ?? "", manifest?.device.keyID.description ?? "",
            report.metadata?.deviceModel ?? "", position?.latitude ?? "", position?.longitude ?? "",
            manifest?.depth.map { "\($0.size)" } ?? "", String(report.bytes),
            report.withheld.map(\.description).joined(separator: " "),
            report.faults.map(\.code.rawValue).joined(separator: " "),
        ]
    }
}

/// Prints the facts about an upload body.
enum BodyRendering {
    static func json(_ output: String, _ body: MultipartBody, headers: String?) -> JSONValue {
        .members([
            "bytes": .integer(body.byteCount), "content_type": .string(body.contentType),
            "headers": .text(headers), "id": .string(body.manifest.id), "output": .string(output),
        ])
    }

    static func remarks(_ output: String, _ body: MultipartBody) {
        for message in body.remarks { diagnostic.warning("\(output): \(message)") }
    }
}
