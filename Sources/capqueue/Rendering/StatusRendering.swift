import CaptureBundle
import CaptureNative
import CaptureQueue
import CommandSupport
import QueueFiles
import QueueModel

extension QueueStatus {
    private static func words(of run: JSONValue) -> String {
        let transfers = (run["transfers"]?.elements ?? []).map { transfer in
            let (sent, bytes) = (transfer["sent"]?.integer ?? 0, transfer["bytes"]?.integer ?? 0)
            let share = bytes > 0 ? " \(sent * 100 / bytes) %" : ""
            return "\(transfer["id"]?.text ?? "") to \(transfer["destination"]?.text ?? "")\(share)"
        }
        let sending = transfers.isEmpty ? "no transfer under way" : transfers.joined(separator: ", ")
        return "process \(run["pid"]?.integer ?? 0), \(sending)"
    }

    /// The lines that `status` prints for people.
    ///
    /// - Parameter run: the current run as JSON; nil if there is none.
    func page(queue: String, run: JSONValue?, _ concerns: [QueueConcern]) -> [String] {
        var table = TextTable()
        for state in DeliveryState.allCases {
            guard let total = totals[state] else { continue }
            table.add(state.rawValue, Quantity.count(total.captures, "capture"), Quantity.bytes(total.bytes))
        }
        if totals.isEmpty { table.add("empty") }
        var facts = TextTable()
        let mark =
            isOverMark
            ? Style.doubtful.output("more than warn-at (\(ByteSize.text(settings.warnAt)))")
            : "warns at \(ByteSize.text(settings.warnAt))"
        facts.add("spool", "\(Quantity.bytes(usedBytes)), \(mark)")
        if let limit = settings.limit { facts.add("limit", Quantity.bytes(limit)) }
        if let room {
            let floor = floorWords.map { ", \($0) must stay free" } ?? ""
            facts.add("disk", "\(Quantity.bytes(room.free)) free\(floor)")
        }
        if !disk.isConcern, let words = disk.queueWords { facts.add("file system", words) }
        facts.add("encryption", encryption == .unknown ? "not known" : encryption.rawValue)
        if let oldestWaiting {
            facts.add("oldest", "\(oldestWaiting.id) waits for \(oldestWaiting.age.words)")
        }
        facts.add("retention", "\(settings.text(.retention)) after upload")
        if sessions.open + sessions.ended > 0 {
            facts.add("sessions", "\(sessions.open) open, \(sessions.ended) ended, \(sessions.due) due")
        }
        if partsOnly.captures > 0 {
            facts.add(
                "parts only",
                "\(Quantity.count(partsOnly.captures, "capture")), \(Quantity.bytes(partsOnly.bytes)): only a part was "
                    + "uploaded (the photo, or what RealityCam takes); kept until prune --accept-parts")
        }
        addDestinations(to: &facts, concerns)
        if let run { facts.add("run", Self.words(of: run)) }
        let needs = concerns.isEmpty ? [] : ["needs a decision:"] + concerns.map { "  \($0.line(self))" }
        return [Visible.text(queue)] + table.lines + facts.lines + needs
    }

    /// What `push` leaves free, as a user writes it; nil for no floor.
    var floorWords: String? {
        if case .bytes = settings.freeFloor { return settings.text(.freeFloor) }
        return room?.floor.map { $0 == 1_000_000_000 ? ByteSize.text($0) : Quantity.bytes($0) }
    }

    /// Where captures go, and how many still have to. What is among the concerns is not said here, too.
    private func addDestinations(to facts: inout TextTable, _ concerns: [QueueConcern]) {
        let names = destinations.map { each in
            each.isDefault ? "\(each.name) (default)" : each.isRetired ? "\(each.name) (retired)" : each.name
        }
        facts.add(
            "destinations",
            names.isEmpty ? "none; add one with: \(capqueue("dest add"))" : names.joined(separator: ", "))
        func isReportedLater(_ code: QueueConcern.Code, _ name: String?) -> Bool {
            concerns.contains { $0.code == code && $0.destination == name }
        }
        for each in work {
            guard let destination = each.destination else { continue }
            let name = destination.name
            if each.backlog.captures > 0 { facts.add("to \(name)", each.backlogWords) }
            if destination.isPaused, !isReportedLater(.destinationPaused, name) {
                facts.add(name, "paused; resume it with: \(capqueue("resume")) --dest \(name)")
            }
            if let block = destination.block, !isReportedLater(.blocked, name) {
                facts.add(name, "\(Style.doubtful.output("blocked")) \(block.words)")
            }
        }
        // With one destination its own line has said it.
        if work.count(where: { $0.backlog.captures > 0 }) > 1 {
            let time = remaining.map { ": about \(max(.seconds(1), $0).words)" } ?? ""
            facts.add(
                "to all",
                "\(Quantity.count(backlog.captures, "delivery", plural: "deliveries")), \(Quantity.bytes(backlog.bytes))\(time)"
            )
        }
        if isPaused, !isReportedLater(.queuePaused, nil) {
            facts.add("paused", "nothing is sent; resume with: \(capqueue("resume"))")
        }
    }

    /// The JSON object of Spec/capqueue.md section 3.
    func json(queue: String, run: JSONValue?, _ concerns: [QueueConcern]) -> JSONValue {
        .members([
            "queue": .string(queue), "captures": Self.json(totals),
            "quota": .members([
                "used_bytes": .integer(usedBytes), "warn_at": .integer(settings.warnAt), "over_mark": .bool(isOverMark),
                "limit": .count(settings.limit), "free_floor": .count(room?.floor),
            ]),
            "disk": .members([
                "free_bytes": .count(freeBytes), "free_inodes": .count(freeInodes),
                "encryption": .string(encryption.rawValue), "kind": disk == .usual ? nil : .string(disk.rawValue),
            ]), "oldest_waiting": oldestWaiting.map(Self.json),
            "parts_only": partsOnly.captures == 0 ? nil : Self.json(partsOnly),
            "sessions": .members([
                "open": .integer(sessions.open), "ended": .integer(sessions.ended), "due": .integer(sessions.due),
            ]),
            "backlog": Self.json(backlog, rate: nil, remaining), "concerns": .array(concerns.map { $0.json(self) }),
            "destinations": .array(
                work.compactMap { each in each.destination.map { Self.json($0, each) } }),
            "unassigned": work.first { $0.destination == nil }.map { Self.json($0.totals) }, "paused": .bool(isPaused),
            "run": run, "clock": .string(clockDoubt == nil ? "trusted" : "delayed"),
        ])
    }

    private static func json(_ totals: [DeliveryState: Total]) -> JSONValue {
        .object(
            DeliveryState.allCases.compactMap { state in
                totals[state].map { .init(state.rawValue, json($0)) }
            })
    }

    private static func json(_ total: Total) -> JSONValue {
        .members(["captures": .integer(total.captures), "bytes": .integer(total.bytes)])
    }

    private static func json(_ backlog: Total, rate: SendingRate?, _ remaining: Duration?) -> JSONValue {
        .members([
            "captures": .integer(backlog.captures), "bytes": .integer(backlog.bytes),
            "bytes_per_second": .count(rate?.bytesPerSecond),
            "seconds": remaining.map { .integer(($0.milliseconds + 999) / 1000) },
        ])
    }

    private static func json(_ waiting: Waiting) -> JSONValue {
        .members([
            "id": .string(waiting.id), "pushed_at": .text(waiting.pushedAt),
            "age_seconds": .integer(waiting.age.milliseconds / 1000),
        ])
    }

    private static func json(_ destination: Destination, _ work: DestinationWork) -> JSONValue {
        .members([
            "name": .string(destination.name), "kind": .string(destination.kind),
            "default": .bool(destination.isDefault), "paused": .bool(destination.isPaused),
            "retired": destination.isRetired ? .bool(true) : nil,
            "backlog": json(work.backlog, rate: work.rate, work.remaining), "deliveries": json(work.totals),
            "oldest_waiting": work.oldestWaiting.map(json), "blocked": destination.block?.json,
        ])
    }
}

extension DestinationWork {
    /// For people: what waits, and for how long yet.
    fileprivate var backlogWords: String {
        let waits = "\(Quantity.count(backlog.captures, "capture")), \(Quantity.bytes(backlog.bytes))"
        if let remaining, let rate {
            return
                "\(waits): about \(max(.seconds(1), remaining).words) at \(Quantity.bytes(rate.bytesPerSecond)) a second"
        }
        return "\(waits): \(isStopped ? "nothing is sent there now" : "no rate yet")"
    }
}

extension Block {
    var json: JSONValue {
        .members([
            "reason": .string(reason.rawValue), "message": .string(message), "until": .text(until),
        ])
    }

    /// The reason, the end of the block and what was found, in words for people.
    var words: String {
        let time = until.map { " until \($0.description)" } ?? ""
        return "(\(reason.rawValue))\(time): \(Visible.text(message))"
    }
}

extension DiskKind {
    /// What a queue on this file system cannot promise; nil if there is nothing to say.
    var queueWords: String? {
        switch self {
        case .usual, .exfat: nil
        case .fat: "the queue is on FAT, where a power cut can take away what was stored"
        case .withoutJournal:
            "the queue is on ext2, or ext4 without a journal, where a power cut can take away what was stored"
        case .fuse: "a FUSE mount: what a power cut leaves depends on the program behind it"
        case .network:
            "a network mount: what a power cut leaves depends on its server; use the queue from one machine only"
        case .memory: "a file system in memory: nothing is left after a restart"
        }
    }

    /// Whether a person has to do something, since what was acknowledged can be lost.
    var isConcern: Bool { self == .fat || self == .withoutJournal }
}

extension QueueFolder {
    /// Prints what a new queue cannot promise on its file system.
    func reportDisk() {
        let kind = DiskKind.of(path)
        guard let words = kind.queueWords else { return }
        if kind.isConcern {
            diagnostic.warning(words)
        } else {
            diagnostic.note("the queue is on \(words)")
        }
    }
}
