import ArgumentParser
import CaptureBundle
import CaptureQueue
import CommandSupport
import QueueFiles
import QueueModel
import SystemPackage

struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Compare the database with the stored files, and set damaged files aside.",
        usage: "capqueue check [options]",
        discussion: """
            Damaged files are moved into the queue's folder "quarantine" and never deleted; pushing the bundle again \
            repairs the capture. A missing file that is there again is taken back. Exit codes: 0 all is well, 1 stored files are damaged, 74 files are missing or cannot \
            be read, 15 other findings, such as stray files (--repair adopts them). With --json, each finding is a line, \
            and a summary is the last one.
            """,
        example: [
            "capqueue check",
            "capqueue check --read-data-subset 5%",
            "capqueue check --read-data --repair",
            "capqueue check --remote",
        ])

    @Flag(help: "Read all bytes and compare their hashes; compare the indexes of the database with its rows.")
    var readData = false

    @Option("Read this share of the bundles, chosen at random, such as 5%.", value: "share")
    var readDataSubset: ShareArgument?

    @Flag(help: "Add stray bundles, which are then held, and write missing sidecars again.")
    var repair = false

    @Flag(help: "Check that the destinations still have the uploads that are stored here; send again what they lost.")
    var remote = false

    @Flag(help: "Change nothing: damaged files are not set aside.")
    var dryRun = false

    @OptionGroup var format: JSONOption
    @OptionGroup var queue: QueueOptions

    func validate() throws {
        if readData && readDataSubset != nil { throw ValidationError("give either --read-data or --read-data-subset") }
        if repair && dryRun { throw ValidationError("give either --repair or --dry-run") }
    }

    func run() throws {
        var options = CheckOptions()
        options.readShare = readData ? 1 : readDataSubset?.share ?? 0
        options.isRepairing = repair
        options.isDryRun = dryRun
        var (asked, notAsked) = (0, (withoutBytes: 0, withoutDestination: 0))
        let (result, sqlite) = try queue.with { queue in
            let sqlite = try queue.upkeep.sqliteVersion()
            func report(_ finding: CheckFinding) throws {
                try format.json ? Output.json(finding.json) : Output.line(finding.line)
            }
            var result = try queue.upkeep.check(options, deliver: report)
            guard remote else { return (result, sqlite) }
            asked = try queue.upkeep.checkRemote(isDryRun: dryRun) { finding in
                result.open[finding.kind, default: 0] += 1
                try report(finding)
            }
            notAsked = try queue.upkeep.notAsked()
            return (result, sqlite)
        }
        let open = result.open.values.reduce(0, +)
        let others = notAsked.withoutBytes + notAsked.withoutDestination
        if format.json {
            try Output.json(
                .members([
                    "kind": .string("summary"), "captures": .integer(result.captures), "files": .integer(result.files),
                    "bytes_read": .integer(result.bytesRead), "findings": .integer(open),
                    "sqlite": .string(sqlite.description), "asked": remote ? .integer(asked) : nil,
                    "not_asked": remote ? .integer(others) : nil,
                ]))
        } else {
            let read = result.bytesRead > 0 ? ", \(Quantity.bytes(result.bytesRead)) read" : ""
            if remote { try Output.line(remoteLine(asked, notAsked)) }
            let well = others == 0 ? "all is well" : "all that was checked is well"
            let found = open == 0 ? well : Quantity.count(open, "finding")
            try Output.line("\(Quantity.count(result.captures, "capture"))\(read): \(found)")
        }
        if result.open[.stray] != nil && !repair {
            diagnostic.note("adopt stray bundles with: \(capqueue("check")) --repair")
        }
        if result.held > 0 {
            diagnostic.note(
                "\(Quantity.count(result.held, "capture", on: .messages)) added and held, because the queue cannot know "
                    + "what was sent or cancelled before; send what may be sent with: \(capqueue("release")) ID")
        }
        if sqlite.hasResetRace {
            diagnostic.note(
                "SQLite \(sqlite) has a bug that 3.51.3 fixed: no other program may write to the database; look into it with",
                command: "sqlite3 -readonly \(ShellWord.quote(queue.folder.database))")
        }
        try ExitStatus.worst(result.open.keys.map(\.status)).require()
    }

    /// How many uploads `--remote` asked for, and how many it did not, with the reasons.
    private func remoteLine(_ asked: Int, _ notAsked: (withoutBytes: Int, withoutDestination: Int)) -> String {
        let reasons = [
            (notAsked.withoutBytes, "whose bytes the queue no longer has"),
            (notAsked.withoutDestination, "recorded without a destination"),
        ]
        let others = reasons.filter { $0.0 > 0 }.map { "\(Quantity.number($0.0)) \($0.1)" }
        return "\(Quantity.count(asked, "upload")) looked up at the destinations"
            + (others.isEmpty ? "" : "; not looked up: \(others.joined(separator: ", "))")
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
        case .missing, .source, .absent, .unreadable, .mount: .inputOutput
        case .stray, .sidecar, .interrupted, .leftover, .lost, .unconfirmed: .workLeft
        }
    }
}

extension CheckFinding {
    fileprivate var json: JSONValue {
        .members([
            "kind": .string(kind.rawValue), "id": .text(id), "path": .string(path),
            "message": .string(words), "repaired": .bool(isRepaired),
        ])
    }

    private var words: String {
        switch kind {
        case .interrupted: "\(message); complete it with: \(capqueue("prune"))"
        case .mount: "\(message); \(OneMount.advice): \(OneMount.command(FilePath(path)))"
        default: message
        }
    }

    fileprivate var line: String {
        let name = id.map { "\($0): " } ?? ""
        let word = isRepaired ? Style.good.output("repaired") : Style.bad.output(kind.rawValue)
        return "\(word): \(Visible.text("\(name)\(path): \(words)"))"
    }
}

struct SalvageCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "salvage",
        abstract: "Rebuild the database from the stored bundles.",
        discussion: """
            For a queue whose database is damaged or missing. The old database is kept under another name. If only \
            indexes are damaged, they are built again, and nothing else changes. Otherwise all bundles in the spool \
            are verified and added to a new database. They are held, unless --release is given, because the new \
            database does not say which of them were cancelled or uploaded. Prints the ids.
            """,
        example: ["capqueue salvage", "capqueue salvage --release"])

    @Flag(help: "Do not hold the captures that are found: send them.")
    var release = false

    @Flag(help: "Salvage a sound database, too: its states and receipts are lost.")
    var force = false

    @OptionGroup var format: JSONOption
    @OptionGroup var queue: QueueOptions

    func run() throws {
        let output = try TextOutput()
        let result = try UploadQueue.salvage(queue.folder, releases: release, isForced: force) { id in
            try output.line(format.json ? Output.jsonText(.members(["id": .string(id)])) : id)
        }
        try output.finish()
        if let old = result.oldDatabase { diagnostic.note("the old database is \(old)") }
        if result.isMended {
            return diagnostic.note("built the indexes of the database again; all states and receipts are kept")
        }
        for path in result.damaged { diagnostic.warning("\(path): is damaged and was set aside") }
        for path in result.unreadable { diagnostic.warning("\(path): cannot be read and was left in place") }
        for id in result.missing { diagnostic.warning("\(id): its bytes are missing; push the bundle again") }
        diagnostic.note("added \(Quantity.count(result.captures, "capture", on: .messages)) from the spool")
        noteOfOrder(result.withoutOrder)
        if !release && result.captures > 0 {
            diagnostic.note(
                "they are held; check them with \"\(capqueue("list"))\", then send them with: \(capqueue("release")) --all"
            )
        }
        if !result.unreadable.isEmpty || !result.missing.isEmpty { throw ExitStatus.inputOutput }
        if !result.damaged.isEmpty { throw ExitStatus.altered }
    }
}

/// Says that sidecars of 1.0 have no order of pushes (Spec/queue.md section 4).
func noteOfOrder(_ count: Int) {
    guard count > 0 else { return }
    let captures = Quantity.count(count, "capture", on: .messages)
    diagnostic.note(
        "\(captures) of sessions were pushed by an earlier version: their order is that of the times of their pushes")
}
