import CaptureBundle
import CapturePages
import CommandSupport
import SystemPackage

/// The parts of a report about one bundle: a card, a row of the table, a line for spreadsheets.
struct ReportedBundle: Sendable {
    /// A kind of result, for the page. The cases are in the order of the table: the worst first, as exit codes are ordered.
    enum Kind: Int, Sendable, CaseIterable {
        case unreadable, malformed, altered, unknownDevice, unacceptable, incomplete, verified

        static func of(_ report: VerificationReport) -> Kind {
            switch report.verdict {
            case .verified: report.withheld.isEmpty ? .verified : .incomplete
            case .altered: .altered
            case .malformed: .malformed
            case .unknownDevice: .unknownDevice
            case .unacceptable: .unacceptable
            }
        }

        /// Whether entries were withheld, which the user allows.
        var isIncomplete: Bool { self == .incomplete }

        var words: String {
            switch self {
            case .unreadable: "not readable"
            case .malformed: ReportRendering.words(.malformed)
            case .altered: ReportRendering.words(.altered)
            case .unknownDevice: "sound, but \(ReportRendering.words(.unknownDevice))"
            case .unacceptable: ReportRendering.words(.unacceptable)
            case .incomplete: "\(ReportRendering.words(.verified)), entries withheld"
            case .verified: ReportRendering.words(.verified)
            }
        }

        var tone: Tone {
            switch self {
            case .unreadable, .malformed, .altered: .bad
            case .unknownDevice, .unacceptable, .incomplete: .doubtful
            case .verified: .good
            }
        }

        var group: ReportKind {
            let name: StaticString =
                switch self {
                case .unreadable: "unreadable"
                case .malformed: "malformed"
                case .altered: "altered"
                case .unknownDevice: "unknown-device"
                case .unacceptable: "unacceptable"
                case .incomplete: "withheld"
                case .verified: "verified"
                }
            return ReportKind(rank: rawValue, name: name)
        }
    }

    /// The word of JSON and CSV for a file that cannot be read.
    static let unreadable = "unreadable"
    /// The words of JSON and CSV, in the order in which a message counts them.
    static let words = Verdict.allCases.map(\.word) + [unreadable]

    /// As given.
    let file: String
    let entry: ReportEntry
    /// The line for spreadsheets.
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

    init(_ outcome: BundleView.Outcome, _ pictures: BundlePictures) {
        file = outcome.file
        switch outcome.result {
        case .success(let view):
            let page = BundleCard(view, pictures)
            entry = page.entry
            line = CSVLine(Self.cells(view)).bytes
            word = view.report.verdict.word
            kind = .of(view.report)
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
                    [outcome.file, Self.unreadable, String(status.rawValue)]
                        + Array(repeating: "", count: Self.columns.count - 4) + [failure.code.rawValue]
                ).bytes
            word = Self.unreadable
            kind = .unreadable
            bytes = 0
            error = failure
            notProven = []
            link = nil
        }
    }

    /// The entry for a file that cannot be read.
    private static func entry(_ file: String, _ failure: BundleError) -> ReportEntry {
        var card = ReportCard(Kind.unreadable.tone, Kind.unreadable.words, title: name(of: file))
        card.findings = ["\(failure.words) [\(failure.code.rawValue)]"]
        card.facts.add("File", "\(foreign: file)")
        let blank: HTML = "—"
        let kind = Kind.unreadable
        let row = table.linked(
            ["unknown", kind.tone.mark(kind.words)] + Array(repeating: blank, count: 5)
                + ["\(foreign: file)", "\(failure.code.rawValue)"])
        return ReportEntry(time: nil, kind: kind.group, card: card, row: row)
    }

    /// The title of a card without a time: the name of the file, without its folders.
    static func name(of file: String) -> HTML {
        "\(foreign: file == "-" ? "standard input" : FilePath(file).lastComponent?.string ?? file)"
    }

    static let table = PageTable(
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
