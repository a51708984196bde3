import ArgumentParser
import CaptureBundle
import CaptureQueue
import CommandSupport
import QueueFiles
import QueueModel
import SystemPackage

struct MarkUploadedCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mark-uploaded",
        abstract: "Record that a capture was sent by other means, with the receipt that proves it.",
        usage: "capqueue mark-uploaded ID --receipt FILE [options]",
        discussion: """
            The receipt is any text that names the bundle's SHA-256 as 64 hex digits: a server's answer, a line of \
            sha256sum or of rclone hashsum. It is kept, and the 7 days of retention start.
            """,
        example: [
            "capqueue mark-uploaded 38ca8c35 --receipt answer.json",
            "sha256sum nas/38ca8c35.bundle | capqueue mark-uploaded 38ca8c35 --receipt -",
        ])

    @Argument(help: "An id, or the beginning of an id.", completion: QueueCompletions.ids)
    var id: String

    @Option(
        help: ArgumentHelp("The file with the receipt; - reads standard input.", valueName: "file"), completion: .file()
    )
    var receipt: String

    @Option(
        "The destination it was sent to, if the capture has several.", value: "name",
        completion: QueueCompletions.destinations)
    var dest: String?

    @OptionGroup var queue: QueueOptions

    func run() throws {
        let text = try TextFile.read(receipt, limit: 1 << 20)
        let record = try queue.with(changes: true) {
            try $0.captures.markUploaded(id, receipt: text, destination: dest)
        }
        diagnostic.note("\(record.id) is \(record.state.rawValue)")
    }
}

struct ExportCommand: ParsableCommand {
    enum Format: String, ExpressibleByArgument, CaseIterable { case json, paths, sha256sum }

    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write a list of waiting captures, to send them by other means.",
        usage: "capqueue export --manifest FILE [options]",
        discussion: """
            json: one object per line with id, sha256, bytes and path. paths: paths in the queue's folder "spool", for \
            rclone. sha256sum: hashes and paths, for sha256sum -c and rclone checksum in that folder.
            """,
        example: [
            "capqueue hold --all | wc -l",
            "capqueue export --manifest waiting --format paths --state held",
            "rclone copy --files-from waiting ~/.local/share/capqueue/spool s3:captures",
        ])

    @Option(
        help: ArgumentHelp("The list to write, or - for a pipe.", valueName: "file"), completion: .file())
    var manifest: String

    @Option(name: .customLong("format"), help: "json, paths or sha256sum.")
    var listFormat: Format = .json

    @OptionGroup var filter: FilterOptions
    @OptionGroup var force: ForceOption
    @OptionGroup var queue: QueueOptions

    func run() throws {
        let target = try TextOutput(force.place(manifest, besides: queue.folder.files))
        try queue.with { queue in
            let spool = queue.folder.spool
            try queue.captures.export(filter.filter) { record in
                guard let path = queue.captures.path(of: record) else { return }
                var relative = path
                _ = relative.removePrefix(spool)
                if record.holding == .reference && listFormat != .json {
                    return diagnostic.note("\(record.id) is left out: its bytes are not in the spool but in \(path)")
                }
                switch listFormat {
                case .paths: try target.line(relative.string)
                case .sha256sum: try target.line("\(record.sha256)  \(relative)")
                case .json:
                    try target.line(
                        Output.jsonText(
                            .members([
                                "id": .string(record.id), "sha256": .text(record.sha256),
                                "bytes": .integer(record.byteCount), "path": .string(path.string),
                            ])))
                }
            }
        }
        try target.finish()
    }
}
