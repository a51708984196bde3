import ArgumentParser
import CaptureBundle
import CaptureQueue
import CommandSupport

struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Compare rows, files and hashes; set damage aside.",
        usage: "capqueue check [options]",
        discussion: """
            Damaged bytes are renamed into the queue's folder "quarantine" and never deleted; pushing the bundle again heals \
            it. Exit codes: 0 all is well, 1 stored bytes are damaged, 74 files are missing, 15 stray files (--repair).

            Example:
              capqueue check
              capqueue check --read-data-subset 5%
              capqueue check --read-data --repair
              capqueue check --remote
            """)

    @Flag(help: "Read all bytes and compare their hashes.")
    var readData = false

    @Option(help: ArgumentHelp("Read a part of the bundles, chosen by chance, such as 5%.", valueName: "share"))
    var readDataSubset: ShareArgument?

    @Flag(help: "Adopt stray files, and write missing sidecars anew.")
    var repair = false

    @Flag(help: "Ask the destinations for what was uploaded and is still stored here; what they lost is sent again.")
    var remote = false

    @Flag(help: "Change nothing, not even for damage.")
    var dryRun = false

    @OptionGroup var format: JSONOption
    @OptionGroup var queue: QueueOptions

    func validate() throws {
        if readData && readDataSubset != nil { throw ValidationError("give either --read-data or --read-data-subset") }
        if repair && dryRun { throw ValidationError("--repair changes something, --dry-run does not") }
    }

    func run() throws {
        var options = CheckOptions()
        options.readShare = readData ? 1 : readDataSubset?.share ?? 0
        options.isRepairing = repair
        options.isDryRun = dryRun
        var kinds: Set<CheckFinding.Kind> = []
        var remoteFindings = 0
        var asked = 0
        let result = try queue.with { queue in
            func say(_ finding: CheckFinding) throws {
                try format.json ? Output.json(finding.json) : Output.line(finding.line)
            }
            let result = try queue.check(options, deliver: say)
            guard remote else { return result }
            asked = try queue.checkRemote(isDryRun: dryRun) { finding in
                kinds.insert(finding.kind)
                remoteFindings += 1
                try say(finding)
            }
            return result
        }
        let open = result.open.values.reduce(0, +) + remoteFindings
        if format.json {
            try Output.json(
                .members([
                    "kind": .string("summary"), "captures": .integer(result.captures), "files": .integer(result.files),
                    "bytes_read": .integer(result.bytesRead), "findings": .integer(open),
                ]))
        } else {
            let read = result.bytesRead > 0 ? ", \(Quantity.bytes(result.bytesRead)) read" : ""
            if remote { try Output.line("\(Quantity.count(asked, "upload")) asked for") }
            let found = open == 0 ? "all is well" : Quantity.count(open, "finding")
            try Output.line("\(Quantity.count(result.captures, "capture"))\(read): \(found)")
        }
        if result.open[.stray] != nil && !repair {
            diagnostic.note("capqueue check --repair adopts stray bundles")
        }
        let status = ExitStatus.worst(result.open.keys.map(\.status) + kinds.map(\.status))
        if status != .success { throw status }
    }
}

/// A share such as `5%`.
struct ShareArgument: ExpressibleByArgument {
    let share: Double

    init?(argument: String) {
        guard let percent = argument.rest(before: "%").flatMap({ Double($0) }), (0...100).contains(percent) else {
            return nil
        }
        share = percent / 100
    }
}

extension CheckFinding.Kind {
    fileprivate var status: ExitStatus {
        switch self {
        case .damaged: .altered
        case .missing, .source, .unreadable: .inputOutput
        case .stray, .sidecar, .interrupted, .leftover, .lost, .unconfirmed: .workLeft
        }
    }
}

extension CheckFinding {
    fileprivate var json: JSONValue {
        .members([
            "kind": .string(kind.rawValue), "id": id.map { .string($0) }, "path": .string(path),
            "message": .string(message), "repaired": .bool(isRepaired),
        ])
    }

    fileprivate var line: String {
        let name = id.map { "\($0): " } ?? ""
        let word = isRepaired ? Style.good.output("repaired") : Style.bad.output(kind.rawValue)
        return "\(word): \(Visible.text("\(name)\(path): \(message)"))"
    }
}

struct SalvageCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "salvage",
        abstract: "Build the database anew from the spool alone.",
        discussion: """
            For a database that is damaged or gone. It is kept under another name. What the spool holds is verified and \
            taken in again; since nobody knows what was cancelled or uploaded, it is held, unless --release is given. \
            Prints the ids.

            Example:
              capqueue salvage
              capqueue salvage --release
            """)

    @Flag(help: "Let everything that is found be sent.")
    var release = false

    @Flag(help: "Also where the database is sound: states and receipts are forgotten.")
    var force = false

    @OptionGroup var format: JSONOption
    @OptionGroup var queue: QueueOptions

    func run() throws {
        let output = OutputBuffer()
        let result = try UploadQueue.salvage(queue.folder, releases: release, isForced: force) { id in
            try output.line(format.json ? Output.jsonText(.members(["id": .string(id)])) : id)
        }
        try output.flush()
        if let old = result.oldDatabase { diagnostic.note("the old database is \(old)") }
        for path in result.damaged { diagnostic.warning("\(path): damaged, set aside") }
        for path in result.unreadable { diagnostic.warning("\(path): cannot be read, left where it is") }
        for id in result.missing { diagnostic.warning("\(id): its bytes are gone; push the bundle again") }
        diagnostic.note("took in \(Quantity.count(result.captures, "capture", on: .messages)) from the spool")
        if !release && result.captures > 0 {
            diagnostic.note("they are held; look at them with \"capqueue list\", then: capqueue release --all")
        }
        if !result.unreadable.isEmpty || !result.missing.isEmpty { throw ExitStatus.inputOutput }
        if !result.damaged.isEmpty { throw ExitStatus.altered }
    }
}
