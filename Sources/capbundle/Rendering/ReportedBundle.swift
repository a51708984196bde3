import CaptureBundle
import CommandSupport
import SystemPackage

/// The parts of a report about one bundle: a card, a row of the table, a line for spreadsheets.
struct ReportedBundle: Sendable {
    /// A kind of result. The kinds are counted in the order of `Kind.all`.
    struct Kind: Sendable {
        /// The word for JSON and CSV.
        let word: String
        /// The words for the page.
        let words: String
        let tone: ReportTone

        static func of(_ verdict: Verdict) -> Kind {
            let words = ReportRendering.words(verdict)
            switch verdict {
            case .verified: return Kind(word: verdict.word, words: words, tone: .good)
            case .unknownDevice: return Kind(word: verdict.word, words: "sound, but \(words)", tone: .doubtful)
            case .unacceptable: return Kind(word: verdict.word, words: words, tone: .doubtful)
            case .altered, .malformed: return Kind(word: verdict.word, words: words, tone: .bad)
            }
        }

        static let unreadable = Kind(word: "unreadable", words: "not readable", tone: .bad)
        static let all = Verdict.allCases.map(of) + [unreadable]
    }

    /// As given.
    let file: String
    let entry: ReportEntry
    /// The line for spreadsheets.
    let line: [UInt8]
    let word: String
    let status: ExitStatus
    let bytes: Int
    /// Why the file cannot be read; nil if it was read.
    let error: BundleError?
    /// The topics that the verdict does not cover.
    let notProven: [String]
    /// nil if the manifest is not genuine or has no chain.
    let link: LinkRecord?

    init(_ outcome: BundleView.Outcome, _ pictures: BundlePictures) {
        file = outcome.file
        switch outcome.result {
        case .success(let view):
            let page = BundleCard(view, pictures)
            entry = page.entry
            line = CSVLine(Self.cells(view)).bytes
            word = view.report.verdict.word
            status = ExitStatus(view.report.verdict)
            bytes = view.report.bytes
            error = nil
            notProven = view.report.notChecked
            link = LinkRecord(view.report)
        case .failure(let failure):
            entry = Self.entry(outcome.file, failure)
            status = ExitStatus(failure)
            line =
                CSVLine(
                    [outcome.file, Kind.unreadable.word, String(status.rawValue)]
                        + Array(repeating: "", count: Self.columns.count - 4) + [failure.code.rawValue]
                ).bytes
            word = Kind.unreadable.word
            bytes = 0
            error = failure
            notProven = []
            link = nil
        }
    }

    /// The entry for a file that cannot be read.
    private static func entry(_ file: String, _ failure: BundleError) -> ReportEntry {
        var card = ReportCard(Kind.unreadable.tone, Kind.unreadable.words, title: name(of: file))
        card.findings = ["\(failure.message) [\(failure.code.rawValue)]"]
        card.add("File", "\(foreign: file)")
        let blank: HTML = "—"
        let row = table.row(
            [blank, "\(Kind.unreadable.words)"] + Array(repeating: blank, count: 5)
                + ["\(foreign: file)", "\(failure.code.rawValue)"])
        return ReportEntry(time: nil, card: card, row: row)
    }

    /// The title of a card without a time: the name of the file, without its folders.
    static func name(of file: String) -> HTML {
        "\(foreign: file == "-" ? "standard input" : FilePath(file).lastComponent?.string ?? file)"
    }

    static let table = ReportTable(
        "All captures",
        [
            .init("Captured (UTC)"), .init("Verdict"), .init("Device"), .init("Model"), .init("Place"), .init("Depth"),
            .init("Size", isNumber: true), .init("File"), .init("Findings"),
        ])

    // MARK: - Spreadsheets

    static let columns = [
        "file", "verdict", "exit_code", "id", "captured_at", "device", "level", "key_id", "device_model", "latitude",
        "longitude", "depth", "bytes", "withheld", "findings",
    ]

    private static func cells(_ view: BundleView) -> [String] {
        let report = view.report
        let manifest = report.manifest
        return [
            view.file, report.verdict.word, String(report.verdict.rawValue), manifest?.id ?? "",
            manifest?.capturedAt.description ?? "", report.trustedDevice?.name ?? "",
            report.trustedDevice?.level.rawValue ?? "", manifest?.device.keyID.description ?? "",
            report.metadata?.deviceModel ?? "", view.position?.latitude ?? "", view.position?.longitude ?? "",
            manifest?.depth.map { "\($0.size)" } ?? "", String(report.bytes),
            report.withheld.map(\.description).joined(separator: " "),
            report.faults.map(\.code.rawValue).joined(separator: " "),
        ]
    }
}
