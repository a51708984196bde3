import ArgumentParser
import CapturePages
import CommandSupport
import PictureClient
import QueueFiles

struct ReportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Write a page about the queue, with the photos of captures.",
        usage: "capqueue report [-o FILE] [options]",
        discussion: """
            The page is one HTML file without scripts, and needs no network. It lists what needs a decision, with \
            the next command, and has a card for each capture: its state, why it failed, where it was uploaded. It \
            shows the newest captures, and also those that failed or are held: of both kinds at most --limit. To \
            keep a page up to date while a run sends: capqueue run --watch --page FILE.
            """,
        example: ["capqueue report -o queue.html", "capqueue report --limit 50 > queue.html"])

    @Option(
        name: [.short, .long],
        help: ArgumentHelp("The page to write.", discussion: "Default: standard output.", valueName: "file"),
        completion: .file(extensions: ["html"]))
    var output = "-"

    @Option(help: ArgumentHelp("Show the newest n captures, and n that failed or are held.", valueName: "n"))
    var limit = 1000

    @Option(help: ArgumentHelp("The title of the page.", valueName: "text"))
    var title = QueuePage.usualTitle

    @OptionGroup var force: ForceOption
    @OptionGroup var queue: QueueOptions

    func validate() throws {
        if limit < 1 { throw ValidationError("--limit is \(limit), expected 1 or more") }
        try refuseTerminal(output, "a page")
    }

    func run() throws {
        let place = try force.place(output, besides: queue.folder.files)
        try queue.with { queue in
            let pictures = BundlePictures()
            var page = QueuePage(queue: queue, title: title, limit: limit, pictures: pictures)
            try page.write(to: place)
            if let failure = pictures.failure {
                diagnostic.warning(
                    "the page has no pictures: a photo \(failure.message)", hints: failure.advice)
            }
        }
    }
}
