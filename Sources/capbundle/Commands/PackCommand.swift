import ArgumentParser
import CaptureBundle
import CaptureDevice
import CaptureImport
import CaptureNative
import CommandSupport
import SystemPackage

struct PackCommand: ManyNamesCommand {
    static let configuration = CommandConfiguration(
        commandName: "pack",
        _superCommandName: "capbundle",
        abstract: "Pack raw captures into signed bundles.",
        usage: """
            capbundle pack RAW -o FILE [options]
            capbundle pack RAW... --out-dir DIR [options]
            capbundle pack --from0 --out-dir DIR [options] < NAMES
            """,
        discussion: """
            RAW is a folder with photo.jpg, depth.f32 (Float32 little-endian, metres, top row first) and \
            metadata.json; an export of 3D Scanner App, Record3D, Polycam or nerfstudio; the parts of a RealityCam \
            upload; an archive (zip, tar, tar.gz, tar.zst) of one of these; or a photo with its depth map inside. \
            For any other folder, --photo and --depth name the files.

            A bundle gets its name only when it is complete and synced to disk. With --out-dir, each RAW becomes \
            DIR/<name of RAW>.bundle, or DIR/<name of RAW>-<frame>.bundle for each frame that has a photo. A \
            capture that cannot be packed does not stop the others.

            Example:
              capbundle pack raw/ -o cap.bundle
              capbundle pack raw/ -o - | ssh gateway 'cat > cap.bundle'
              capbundle pack captures/* --out-dir bundles
              capbundle pack scan.zip --every 10 --out-dir bundles
              capbundle pack IMG_0001.JPG -o cap.bundle
              capbundle pack scan/ --photo 'rgb/*.jpg' --depth 'd/*.png' --depth-unit mm \\
                --time-from-name ms --device-model NAME --out-dir bundles
            """)

    @Argument(
        help: ArgumentHelp(
            "The raw capture: a folder, an archive or a photo; several with --out-dir.", valueName: "raw"),
        completion: .file())
    var names: [String] = []

    @Option(
        name: [.short, .long], "The bundle to write, or - for standard output.",
        discussion: "With -, --json prints on standard error.", value: "file", completion: .file())
    var output: String?

    @Option("The folder for the bundles of several captures.", value: "dir", completion: .directory)
    var outDir: String?

    @OptionGroup var force: ForceOption

    @Flag(help: "Check everything and say what would be packed; sign and write nothing.")
    var dryRun = false

    @Option(
        "Also write the upload body to this file.", discussion: "See capbundle multipart.", value: "body",
        completion: .file())
    var multipart: String?

    @OptionGroup var headers: HeadersOption

    @Flag(
        help: ArgumentHelp(
            "Link each bundle to the one that this key chained before it.",
            discussion: "The chain shows whether a bundle in the middle is missing."))
    var chain = false

    @Flag(help: "Pack without a depth map.")
    var noDepth = false

    @Option(help: "How much of the position to keep: exact, coarse (two decimals) or omit.")
    var location: LocationPolicy = .exact

    @OptionGroup var withholdable: WithholdableOption

    @OptionGroup(title: "Other layouts and devices") var raw: RawOptions

    @OptionGroup var list: NameOptions

    @Flag(help: "Stop at the first failure.")
    var failFast = false

    @OptionGroup var format: JSONOption
    @OptionGroup var key: KeyOptions
    @OptionGroup var passphrase: PassphraseOptions

    private func options() throws -> RawCaptureOptions {
        var options = raw.options(withoutDepth: noDepth, location: location)
        options.withholdable = try withholdable.selection()
        return options
    }

    func validate() throws {
        try list.validate(names: names, of: "raw folder", takesPipe: false)
        if raw.files.photo != nil && raw.files.depth == nil && !noDepth {
            throw ValidationError("--photo needs --depth PATTERN, or --no-depth")
        }
        if outDir == nil { try validateOne() } else { try validateMany() }
    }

    private func validateOne() throws {
        guard names.count == 1 else {
            if list.from0 { throw ValidationError("--from0 needs --out-dir DIR") }
            let several = "several captures need --out-dir DIR"
            let isFolder = names.last.map { (try? FileStatus.of(FilePath($0)))?.kind == .folder } ?? false
            guard output == nil, names.count == 2, !isFolder else { throw ValidationError(several) }
            throw ValidationError("\(several); to write the bundle \(names[1]): -o \(names[1])")
        }
        guard dryRun || output != nil else {
            throw ValidationError("say where to write the bundle: -o FILE, or -o - for a pipe")
        }
        if headers.path != nil && multipart == nil { throw ValidationError("--headers needs --multipart BODY") }
        let places = [output, multipart, headers.path].compactMap(\.self)
        if places.count(where: { $0 == "-" }) > 1 { throw ValidationError("only one of the outputs can be -") }
        if !dryRun, let pipe = places.first(where: { $0 == "-" }) { try refuseTerminal(pipe, "a bundle") }
    }

    private func validateMany() throws {
        if output != nil { throw ValidationError("give either -o FILE or --out-dir DIR") }
        if multipart != nil || headers.path != nil {
            throw ValidationError("--multipart and --headers do not work with --out-dir")
        }
    }

    func run() throws {
        let packer = Packer(
            key: key.file, passphrase: try passphrase.passphrase(warn: diagnostic.warning), isChained: chain)
        try withholdable.warn()
        let options = try options()
        if let outDir { try packMany(into: outDir, packer, options) } else { try packOne(packer, options) }
    }

    private func packOne(_ packer: Packer, _ options: RawCaptureOptions) throws {
        let raw = names[0]
        do {
            func place(_ path: String) throws(BundleError) -> OutputPlace {
                try force.place(path, besides: passphrase.files)
            }
            let body = try multipart.map { path in
                Packer.BodyPlaces(body: try place(path), headers: try headers.path.map(place))
            }
            let packed = try packer.pack(
                FilePath(raw), to: output.map(place) ?? .standardOutput, body: body, options: options,
                isDryRun: dryRun
            ) { diagnostic.remark($0) }
            try report(raw, packed)
        } catch let error as BundleError {
            if format.json { try report(PackRendering.json(raw, error)) }
            throw error
        }
    }

    private func report(_ raw: String, _ packed: Packer.Packed) throws {
        if let body = packed.body, let multipart { BodyRendering.remarks(multipart, body) }
        if format.json {
            let body = packed.body.flatMap { body in
                multipart.map { BodyRendering.json($0, body, headers: headers.path) }
            }
            try report(PackRendering.json(raw, packed, output: output, isDryRun: dryRun, body: body))
            return
        }
        let link = packed.manifest.chain.map { ", link \($0.seq)" } ?? ""
        let what = "\(packed.id), \(Quantity.bytes(packed.byteCount, on: .messages))\(link)"
        if packed.wasPackedBefore {
            diagnostic.note("\(raw) is packed already in \(output ?? "-"): \(what)")
        } else if dryRun {
            diagnostic.note("\(raw) can be packed: \(what); nothing was written")
        } else {
            diagnostic.note("packed \(output ?? "-"): \(what)")
        }
        if let body = packed.body, let multipart {
            diagnostic.note("wrote \(multipart): \(Quantity.bytes(body.byteCount, on: .messages))")
        }
    }

    /// Prints the JSON report. If a bundle or a body goes to standard output, the report goes to standard error.
    private func report(_ json: JSONValue) throws {
        try Output.json(json, beside: dryRun ? [] : [output, multipart, headers.path])
    }
}

extension PackCommand {
    private func packMany(into folder: String, _ packer: Packer, _ options: RawCaptureOptions) throws {
        let run = try PackingRun(
            allNames(), into: FilePath(folder), replaces: force.force, packer: packer, options: options)
        for item in run.items { try item.output.refuse(inputs: passphrase.files) }
        run.remarks.forEach(diagnostic.remark)
        let progress = Progress("capture", total: run.items.count, isWanted: true)
        defer { progress.end() }
        var counts: [ExitStatus: Int] = [:]
        var before = 0
        // A run prints these notes only once.
        let once = [Remark.photoFields, Remark.depthUnit]
        var reported: [String] = []
        let reportRemark = { (remark: Remark) in
            progress.end()
            diagnostic.remark(remark)
        }
        var findings = FindingList()
        try run.pack(
            threads: list.jobs, stopsAtFailure: failFast, isDryRun: dryRun, onRemark: reportRemark
        ) { item, result in
            let status: ExitStatus
            switch result {
            case .success(let packed):
                for remark in packed.remarks where !reported.contains(remark.code) {
                    findings.add(remark)
                    if once.contains(remark.code) { reported.append(remark.code) }
                }
                status = .success
            case .failure(let error):
                findings.add(error)
                status = ExitStatus(error)
            }
            if format.json {
                try progress.around { try Output.json(json(item, result)) }
            }
            if findings.isFull { progress.around { findings.report(diagnostic) } }
            counts[status, default: 0] += 1
            if (try? result.get())?.wasPackedBefore == true { before += 1 }
            progress.advance(bytes: (try? result.get().byteCount) ?? 0)
        }
        progress.end()
        findings.report(diagnostic)
        if !format.json { reportCounts(counts, before: before, of: run.items.count, folder) }
        try ExitStatus.worst(counts.keys).require()
    }

    /// The names of all captures. They are read before any work, so that clashes between them are found first.
    private func allNames() throws -> [Result<FilePath, BundleError>] {
        guard list.from0 else { return names.map { .success(FilePath($0)) } }
        let names = AnyIterator(NameList().next).map { name in name.map { FilePath($0) } }
        if names.isEmpty { throw NameOptions.noNames }
        return names
    }

    private func json(_ item: PackingRun.Item, _ result: Result<Packer.Packed, BundleError>) -> JSONValue {
        switch result {
        case .success(let packed):
            PackRendering.json(item.raw.string, packed, output: item.output.name, isDryRun: dryRun)
        case .failure(let error): PackRendering.json(item.raw.string, frame: item.frame, error)
        }
    }

    private func reportCounts(_ counts: [ExitStatus: Int], before: Int, of all: Int, _ folder: String) {
        let packed = (counts[.success] ?? 0) - before
        let done = counts.values.reduce(0, +)
        let parts = [
            (before, "were packed already"), (done - packed - before, "failed"), (all - done, "not tried"),
        ].filter { $0.0 > 0 }.map { ", \(Quantity.number($0.0, on: .messages)) \($0.1)" }.joined()
        if dryRun {
            let captures = Quantity.count(packed, "capture", on: .messages)
            diagnostic.note("\(captures) can be packed into \(folder)\(parts); nothing was written")
        } else {
            let bundles = Quantity.count(packed, "bundle", on: .messages)
            diagnostic.note("packed \(bundles) into \(folder)\(parts)")
        }
    }
}

/// The options for the source of file names, and for the number of files that are processed at the same time.
struct NameOptions: ParsableArguments {
    @Flag(name: .customLong("from0"), help: "Read names from standard input, each followed by NUL (find -print0).")
    var from0 = false

    @Option("How many to process at the same time.", discussion: "Default: one for each processor.", value: "number")
    var jobs: Int?

    /// The error for an empty list of names: a pipeline that passes no names is probably wrong, so this is not a
    /// success.
    static let noNames = BundleError(
        .noNames, "no names were read, expected names that end with NUL", file: "standard input")

    /// - Parameter takesPipe: Whether `-` means standard input, which can be read only once.
    func validate(names: [String], of noun: String, takesPipe: Bool = true) throws {
        if from0 && !names.isEmpty { throw ValidationError("give either names or --from0, not both") }
        if !from0 && names.isEmpty { throw ValidationError("give at least one \(noun), or --from0") }
        if let jobs, !(1...1024).contains(jobs) { throw ValidationError("--jobs is \(jobs), expected 1 to 1024") }
        if takesPipe && names.count(where: { $0 == "-" }) > 1 {
            throw ValidationError("- means standard input and can be given only once")
        }
    }
}
