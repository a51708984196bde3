import ArgumentParser
import CaptureBundle
import CaptureDevice
import CaptureImport
import CaptureNative
import CaptureQueue
import CommandSupport
import QueueFiles
import QueueModel
import SystemPackage

struct AdoptCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "adopt",
        abstract: "Add all bundles below a folder that are not yet in the queue.",
        discussion: """
            Finds bundles that nobody has pushed. Each capture is added once, however often this runs; symbolic links \
            are not followed. A file that is a bundle only by its name, *.bundle, is an error; so is a link or \
            pipe of that name. Unfinished files, whose \
            names begin with "." or end with .tmp, .part, .partial, .filepart or .crdownload, are left alone. With \
            --pack, folders with photo.jpg and metadata.json are packed on the way. Ids and --json are printed as by \
            "capqueue push".

            In the spool of another queue a bundle has a sidecar beside it. Then it keeps its session, its priority, its \
            destinations and the time before which it is not sent, whatever the options say. It is held, unless \
            --release is given, because that queue may have sent or cancelled it. Once it is released, the destination \
            is asked for it before it is sent.
            """,
        example: ["capqueue adopt captures/", "capqueue adopt /media/card --pack", "capqueue adopt old-queue/spool"])

    @Argument(help: ArgumentHelp("The folder to search for bundles.", valueName: "dir"), completion: .directory)
    var path: String

    @Flag(help: "Do not hold bundles of another queue: ask the destinations for them, and send what they lack.")
    var release = false

    @Flag(help: "Also pack raw captures and add their bundles.")
    var pack = false

    @Flag(help: "With --pack: pack without a depth map.")
    var noDepth = false

    @Option(help: "With --pack: how much of the position to keep: exact, coarse or omit.")
    var location: LocationPolicy = .exact

    @OptionGroup var push: PushOptionGroup
    @OptionGroup var key: KeyOptions
    @OptionGroup var passphrase: PassphraseOptions
    @OptionGroup var format: JSONOption
    @OptionGroup var queue: QueueOptions

    func run() throws {
        let output = PushReport(isQuiet: false, isJSON: format.json, requiresTrust: push.requireTrusted)
        let packer = pack ? Packer(key: key.file, passphrase: try passphrase.passphrase(warn: diagnostic.warning)) : nil
        let options = try push.options()
        var (count, held, withoutOrder) = (0, 0, 0)
        var left = LeftAlone()
        try queue.with(createIfMissing: queue.folder.isDefault) { queue in
            func report(_ file: String, _ result: Result<Pushed, any Error>) throws {
                if case .success(let pushed) = result {
                    // A bundle that is twice in the folder is pushed once; do not report the second copy.
                    if pushed.outcome == .heldAlready { return }
                    count += 1
                    held += pushed.isHeld ? 1 : 0
                    withoutOrder += pushed.lacksOrder ? 1 : 0
                }
                try output.add(file, result)
            }
            left = try queue.captures.adopt(FilePath(path), options: options, releases: release, deliver: report)
            if let packer {
                for raw in left.rawCaptures {
                    if let result = pack(raw, with: packer, into: queue, options) { try report(raw.string, result) }
                }
                left.rawCaptures = []
            }
            for fault in left.notFiles { try output.add(fault.file ?? path, .failure(fault)) }
            output.finish(queue, namesDestination: !push.destinations.isEmpty)
        }
        if count > 0 {
            diagnostic.note("added \(Quantity.count(count, "bundle", on: .messages)) from \(path)")
        } else if output.worst == .success {
            diagnostic.note("nothing new in \(path)")
        }
        if held > 0 {
            diagnostic.note(
                "\(Quantity.count(held, "capture", on: .messages)) added and held, because the queue that had them may have sent "
                    + "or cancelled them; send what may be sent with: \(capqueue("release")) ID")
        }
        noteOfOrder(withoutOrder)
        for file in left.references {
            diagnostic.warning(
                "\(ShellWord.quote(file)): the other queue had a reference to this file, and this queue does not have it",
                hints: ["add it with: \(capqueue("push")) --reference \(ShellWord.quote(file))"])
        }
        if !left.rawCaptures.isEmpty {
            let isOne = left.rawCaptures.count == 1
            diagnostic.note(
                "\(Quantity.count(left.rawCaptures.count, "folder", on: .messages)) in \(path) \(isOne ? "is a raw capture" : "are raw captures"), "
                    + "with photo.jpg and metadata.json; adopt expects bundles",
                hints: [
                    "pack and add them with: \(capqueue("adopt")) --pack \(ShellWord.quote(FilePath(path)))"
                ])
        }
        if output.worst != .success { throw output.worst }
    }

    /// Packs a raw capture and pushes its bundle.
    ///
    /// - Returns: nil if the queue holds the capture.
    private func pack(
        _ raw: FilePath, with packer: Packer, into queue: UploadQueue, _ options: PushOptions
    ) -> Result<Pushed, any Error>? {
        let reading = RawCaptureOptions(withoutDepth: noDepth, location: location)
        do {
            // Packing always gives the same manifest, so a dry run shows whether the queue has the capture.
            let planned = try packer.pack(raw, to: .standardOutput, options: reading, isDryRun: true)
            let identity = try Digest.identity(
                manifestSHA256: planned.manifestSHA256, present: planned.manifest.entries.map(\.path))
            if try queue.captures.holds(identity) { return nil }
            let room = try TemporaryDirectory()
            defer { room.remove() }
            let bundle = room.path.appending("packed.bundle")
            _ = try packer.pack(raw, to: .file(bundle), options: reading)
            return .success(try queue.push(bundle, options))
        } catch {
            return .failure(error)
        }
    }
}
