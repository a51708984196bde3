public import ArgumentParser
import CaptureBundle
import CaptureQueue
import CommandSupport
public import QueueModel

struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Print or change the queue's settings.",
        discussion: """
            retention: how long uploaded bytes are kept (7d). warn-at: push warns when the spool is larger than this \
            (500MB). limit: push never makes the spool larger than this (none). free-floor: push leaves this free on \
            the disk (5 % of it, at most 1GB; none for no floor). evict-uploaded: on lets push delete the oldest uploaded bundles, before \
            their retention has passed, when limit or free-floor would refuse (off). require-trusted: push refuses a bundle whose device is not trusted (no). \
            require-encrypted: on lets push refuse bundles while the disk of the spool is not known to be encrypted \
            (off). inbox: a folder from which run takes bundles that other users put there (none).
            """,
        example: [
            "capqueue config",
            "capqueue config retention 14d",
            "capqueue config limit --unset",
            "capqueue config --json",
        ])

    @Argument(
        help: "retention, warn-at, limit, free-floor, evict-uploaded, require-trusted, require-encrypted or inbox.")
    var name: QueueSettings.Name?

    @Argument(help: "The new value.")
    var value: String?

    @Flag(help: "Reset the setting to its default.")
    var unset = false

    @OptionGroup var format: JSONOption
    @OptionGroup var queue: QueueOptions

    func validate() throws {
        if format.json && (unset || value != nil) { throw ValidationError("--json prints settings and changes none") }
        if unset && (name == nil || value != nil) { throw ValidationError("--unset needs a name and takes no value") }
    }

    func run() throws {
        if let name, unset || value != nil {
            // Check before a queue is made.
            if let value, name != .inbox {
                var tried = QueueSettings()
                try tried.set(name, value)
            }
            return try queue.with(createIfMissing: true) { queue in
                try queue.set(name, value)
                diagnostic.note("\(name.rawValue) is \(try queue.settings().text(name))")
            }
        }
        let (settings, room) = try queue.with { (try $0.settings(), try $0.upkeep.diskRoom()) }
        if format.json {
            return try Output.json(settings.json(name.map { [$0] } ?? QueueSettings.Name.allCases, room))
        }
        if let name { return try Output.line(settings.text(name)) }
        for name in QueueSettings.Name.allCases { try Output.line("\(name.rawValue) \(settings.text(name))") }
    }
}

extension QueueSettings {
    /// Spec/capqueue.md section 3.
    fileprivate func json(_ names: [Name], _ room: DiskRoom) -> JSONValue {
        .object(names.compactMap { member($0, room) })
    }

    private func member(_ name: Name, _ room: DiskRoom) -> JSONValue.Member? {
        switch name {
        case .retention: .init("retention_seconds", .integer(Int(retention.components.seconds)))
        case .warnAt: .init("warn_at", .integer(warnAt))
        case .limit: limit.map { .init("limit", .integer($0)) }
        case .freeFloor: room.floor.map { .init("free_floor", .integer($0)) }
        case .evictUploaded: .init("evict_uploaded", .bool(evictsUploaded))
        case .requireTrusted: .init("require_trusted", .bool(requiresTrust))
        case .requireEncrypted: .init("require_encrypted", .bool(requiresEncryption))
        case .inbox: inbox.map { .init("inbox", .string($0)) }
        }
    }
}

extension QueueSettings.Name: ExpressibleByArgument {}
