import ArgumentParser
import CaptureBundle
import CapturePages
import CommandSupport
import PictureClient

struct ReportCommand: ManyNamesCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Verify bundles and write a page with their photos and facts.",
        usage: """
            capbundle report FILE|FOLDER... -o report.html [options]
            capbundle report --from0 -o report.html [options] < NAMES
            """,
        discussion: """
            The page is one HTML file without scripts; it needs no network. It has a card for each capture, a table \
            to print, and the number of captures of each day. Bundles in folders and their subfolders are found by \
            their first bytes, or by a name that ends with .bundle; symbolic links are not followed. The page is \
            written whatever the verdicts are. Exit codes: as for "capbundle verify", the worst of all bundles.

            The page and the CSV file have the exact position of each sound capture that contains one, so whoever \
            gets them learns it. --without-position leaves it out.
            """,
        example: [
            "capbundle report archive -o report.html",
            "capbundle report archive -o report.html --csv report.csv --require depth",
            "find archive -newer last -print0 | capbundle report --from0 -o new.html",
        ])

    @Argument(
        help: ArgumentHelp("The bundles or folders, or - for a bundle on standard input.", valueName: "file"),
        completion: .file())
    var names: [String] = []

    @Option(
        name: [.short, .long], help: ArgumentHelp("The page to write, or - for a pipe.", valueName: "file"),
        completion: .file(extensions: ["html"]))
    var output: String

    @Option(
        "Also write a table for spreadsheets: a line for each capture.", value: "file",
        completion: .file(extensions: ["csv"]))
    var csv: String?

    @Option(help: ArgumentHelp("The title of the page.", valueName: "text"))
    var title = "Capture report"

    @Flag(help: "Leave out where the captures were taken, in the page and the CSV file.")
    var withoutPosition = false

    @OptionGroup var requirements: PolicyOptions
    @OptionGroup var list: NameOptions
    @OptionGroup var force: ForceOption
    @OptionGroup var trust: TrustOptions

    func validate() throws {
        try list.validate(names: names, of: "bundle or folder (- for a pipe)")
        if csv == "-" && output == "-" { throw ValidationError("-o and --csv cannot both be -") }
        try requirements.refuseFreshAndTime()
        try refuseTerminal(output, "a page")
    }

    func run() throws {
        let trustFile = try trust.file(warn: diagnostic.warning)
        let verifier = Verifier(trust: trustFile, policy: try requirements.policy())
        let report = try BundleReport(
            title: title, page: force.place(output, besides: trust.files),
            csv: csv.map { try force.place($0, besides: trust.files) }, devices: DeviceNames(trustFile))
        let pictures = BundlePictures()
        let found = BundleNames(names, isList: list.from0)
        let progress = Progress("bundle", total: nil, isWanted: true)
        defer { progress.end() }
        try verifier.viewAll(
            threads: list.jobs, next: found.next,
            prepare: { [withoutPosition] in ReportedBundle($0, pictures, withoutPosition: withoutPosition) },
            deliver: { bundle in
                if let error = bundle.error { progress.around { diagnostic.error(error) } }
                try report.add(bundle)
                progress.advance(bytes: bundle.bytes)
                return true
            })
        progress.end()
        if report.isEmpty { throw NameOptions.noNames }
        try report.finish()
        if let failure = pictures.failure {
            diagnostic.warning(
                "the page has no pictures: a photo \(failure.message)", hints: failure.advice)
        }
        found.reportLeftOut(diagnostic, command: "capbundle report --from0 -o FILE")
        diagnostic.note("\(output == "-" ? "the page" : output) has \(report.summary)")
        try report.status.require()
    }
}
