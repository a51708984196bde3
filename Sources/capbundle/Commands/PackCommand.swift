import ArgumentParser
import CaptureBundle
import CommandSupport

struct PackCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pack",
        abstract: "Pack a raw capture into one signed bundle.",
        discussion: """
            RAW is a folder with photo.jpg, depth.f32 (Float32 little-endian, metres, top row first) and metadata.json. \
            The bundle appears under its name whole and synced to disk, or not at all.

            Example:
              capbundle pack raw/ -o cap.bundle
              capbundle pack raw/ -o - | ssh gateway 'cat > cap.bundle'
            """)

    @Argument(help: "The raw folder.")
    var raw: String

    @Option(name: [.short, .long], help: ArgumentHelp("The bundle to write, or - for a pipe.", valueName: "file"))
    var output: String?

    @Flag(help: "Replace a bundle that is there.")
    var force = false

    @Flag(help: "Check everything and say what would be packed; sign and write nothing.")
    var dryRun = false

    @Flag(help: "Pack without a depth map.")
    var noDepth = false

    @Option(help: ArgumentHelp("Width and height of depth.f32 in samples.", valueName: "WxH"))
    var depthSize: DepthSize?

    @Option(help: "How much of the position to keep: exact, coarse (two decimals) or omit.")
    var location: LocationPolicy = .exact

    @OptionGroup var format: JSONOption
    @OptionGroup var key: KeyOptions
    @OptionGroup var passphrase: PassphraseOptions

    func validate() throws {
        guard dryRun || output != nil else { throw ValidationError("missing expected argument '--output <file>'") }
        if output == "-" && !dryRun && Output.isTerminal {
            throw ValidationError("a bundle is not written to a terminal; give a file to -o, or pipe the output")
        }
    }

    func run() throws {
        let options = RawCaptureOptions(depthSize: depthSize, withoutDepth: noDepth, location: location)
        let target: Packer.Output =
            output.map { $0 == "-" ? .standardOutput : force ? .replacing($0) : .file($0) } ?? .standardOutput
        do {
            let packer = Packer(key: key.file, passphrase: try passphrase.read())
            let packed = try packer.pack(raw, to: target, options: options, isDryRun: dryRun) {
                diagnostic.remark($0)
            }
            try report(packed)
        } catch let error as BundleError where format.json {
            let status = ExitStatus(error)
            try report(
                .members([
                    "error": error.json, "exit_code": .integer(Int(status.rawValue)), "raw": .string(raw),
                ]))
            throw error
        }
    }

    private func report(_ packed: Packer.Packed) throws {
        if format.json {
            try report(packed.json(raw: raw, output: output, isDryRun: dryRun))
            return
        }
        let what = "\(packed.id), \(Quantity.bytes(packed.byteCount))"
        if dryRun {
            diagnostic.note("\(raw) can be packed: \(what); nothing was written")
        } else {
            diagnostic.note("packed \(output ?? "-"): \(what)")
        }
    }

    /// Standard output is the bundle's when it goes to a pipe; then the report goes where people look.
    private func report(_ json: JSONValue) throws {
        if output == "-" && !dryRun {
            Output.tell(Output.jsonText(json))
        } else {
            try Output.json(json)
        }
    }
}

extension Packer.Packed {
    fileprivate func json(raw: String, output: String?, isDryRun: Bool) -> JSONValue {
        .members([
            "bytes": .integer(byteCount),
            "captured_at": .string(manifest.capturedAt.description),
            "counter": counter.map { .integer(Int($0)) },
            "dry_run": isDryRun ? .bool(true) : nil,
            "entries": .array(manifest.entries.map { .string($0.path.description) }),
            "exit_code": .integer(0),
            "id": .string(id),
            "key_id": .string(manifest.device.keyID.description),
            "manifest_sha256": .string(manifestSHA256.description),
            "output": output.map { .string($0) },
            "raw": .string(raw),
            "remarks": .array(
                remarks.map {
                    .members([
                        "file": .string($0.file), "message": .string($0.message), "weight": .string($0.weight.rawValue),
                    ])
                }),
        ])
    }
}
