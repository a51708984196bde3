import CaptureBundle
import CaptureQueue
import CommandSupport
import QueueModel

extension QueueConcern {
    /// What `status --check` answers for it.
    var status: ExitStatus {
        switch code {
        case .failed: .failedForGood
        case .atLimit, .lowDisk, .overMark: .overMark
        case .spoolAbsent, .absent, .unassigned, .held, .salvaged, .blocked, .destinationPaused, .queuePaused, .untold,
            .cutShort, .old, .inbox, .clock:
            .workLeft
        }
    }

    /// For people: what was found, and the next command.
    func line(_ status: QueueStatus) -> String { "\(words(status)); \(advice(status)): \(next(status))" }

    private var captures: String { Quantity.count(count, "capture") }

    private var isOne: Bool { count == 1 }

    private var place: String { destination.map { " for \($0)" } ?? "" }

    func words(_ status: QueueStatus) -> String {
        let name = destination ?? ""
        switch code {
        case .failed: return "\(captures)\(place) failed for good"
        case .atLimit:
            let limit = status.settings.text(.limit)
            return
                "the spool holds \(Quantity.bytes(status.usedBytes)), the limit is \(limit), so push refuses new captures"
        case .lowDisk:
            let free = "\(Quantity.bytes(status.freeBytes ?? 0)) are free on the disk"
            guard let floor = status.floorWords else { return "only \(free)" }
            return status.room?.isEnforced ?? false
                ? "\(free), but \(floor) must stay free (free-floor), so push refuses new captures"
                : "\(free), less than free-floor (\(floor))"
        case .spoolAbsent:
            return "the spool is missing or empty, but bundles are stored in it: its disk may not be mounted"
        case .absent:
            return
                "\(captures)\(place) \(isOne ? "is" : "are") stored by reference in a folder that is missing or empty: "
                + "its disk may not be mounted"
        case .overMark:
            return
                "the spool holds \(Quantity.bytes(status.usedBytes)), more than warn-at (\(ByteSize.text(status.settings.warnAt)))"
        case .unassigned:
            return "\(captures) \(isOne ? "has" : "have") no destination, so nothing sends \(isOne ? "it" : "them")"
        case .held: return "\(captures)\(place) \(isOne ? "is" : "are") held"
        case .salvaged:
            return
                "\(captures)\(place) \(isOne ? "is" : "are") held by salvage or check --repair, which cannot know what was sent before"
        case .blocked:
            let block = work(status)?.destination?.block.map { " (\($0.reason.rawValue)): \(Visible.text($0.message))" }
            return "\(captures) cannot be sent, because \(name) is blocked\(block ?? "")"
        case .destinationPaused: return "\(captures) cannot be sent, because \(name) is paused"
        case .queuePaused: return "\(captures) cannot be sent, because the queue is paused"
        case .untold:
            return "\(name) has not accepted the end of \(Quantity.count(count, "session")) in several attempts"
        case .cutShort:
            return
                "\(captures)\(place) \(isOne ? "was" : "were") not sent in three tries: "
                + "\(work(status)?.cutShort?.message ?? "") (--max-duration)"
        case .old:
            let oldest = work(status)?.oldestWaiting
            return "\(oldest?.id ?? "")\(place) has waited for \(Moment.age(oldest?.ageMilliseconds ?? 0))"
        case .inbox:
            let inbox = status.settings.inbox ?? ""
            if let fault = status.inboxFault { return "the inbox \(inbox) cannot be read: \(fault)" }
            return
                "\(Quantity.count(count, "file")) in the inbox \(inbox) \(isOne ? "has" : "have") been there for more than 10 minutes"
        case .clock:
            return
                "the clock differs by \(Moment.age(status.clockDoubt ?? 0)) from the expected time, "
                + "so deletion is delayed, and sending can wait until the next run"
        }
    }

    func advice(_ status: QueueStatus) -> String {
        switch code {
        case .failed: isAllQuarantined(status) ? "look for \(isOne ? "its" : "their") bytes again" : "list them"
        case .spoolAbsent, .absent: "mount it, then look again"
        case .old, .inbox: "see why"
        case .atLimit, .lowDisk, .overMark: room(status).advice
        case .unassigned: "add a destination"
        case .held, .salvaged:
            isAmbiguous(status) ? "release by id what may be sent" : "send \(isOne ? "it" : "them")"
        case .blocked: block(status).advice
        case .untold: "find out why"
        case .cutShort: "send without a limit"
        case .destinationPaused, .queuePaused: "resume sending"
        case .clock: "if the clock is correct now"
        }
    }

    func next(_ status: QueueStatus) -> String {
        let name = destination ?? ""
        switch code {
        case .spoolAbsent, .absent: return "capqueue check"
        case .failed where isAllQuarantined(status): return "capqueue check"
        case .failed:
            return "capqueue list --state \(DeliveryState.failedForGood.map(\.rawValue).joined(separator: ","))"
        case .atLimit, .lowDisk, .overMark: return room(status).next
        case .unassigned: return "capqueue dest add NAME --kind KIND ..."
        case .held, .salvaged:
            return isAmbiguous(status) ? "capqueue list --state held" : "capqueue release --dest \(name)"
        case .destinationPaused: return "capqueue resume --dest \(name)"
        case .queuePaused: return "capqueue resume"
        case .blocked: return block(status).next
        case .untold: return "capqueue dest test \(name)"
        case .cutShort: return "capqueue run --dest \(name)"
        case .old: return "capqueue history \(work(status)?.oldestWaiting?.id ?? "")"
        case .inbox: return "capqueue run"
        case .clock: return "capqueue prune --accept-clock"
        }
    }

    /// How to make room. Nothing is deleted before it is uploaded, so `prune` is named only where it has something to do.
    private func room(_ status: QueueStatus) -> (advice: String, next: String) {
        if let found = status.releasable {
            let what = Quantity.count(found.captures, "uploaded bundle")
            return ("delete \(found.isAll ? "" : "at least ")\(what) (\(Quantity.bytes(found.bytes)))", found.command)
        }
        if status.waiting > 0 { return ("nothing is fully uploaded yet, so send it", "capqueue run") }
        let setting: QueueSettings.Name = code == .atLimit ? .limit : code == .lowDisk ? .freeFloor : .warnAt
        return ("nothing can be pruned, so change \(setting.rawValue)", "capqueue config \(setting.rawValue) SIZE")
    }

    private func block(_ status: QueueStatus) -> (advice: String, next: String) {
        let place = work(status)?.destination
        if let place, let block = place.block, let change = NextSteps.change(after: block, place.name, kind: place.kind)
        {
            return change
        }
        // The settings make several captures share a place, which `dest test` does not find.
        return place?.block?.reason == .address
            ? ("see its settings", "capqueue dest show \(destination ?? "")")
            : ("find out why", "capqueue dest test \(destination ?? "")")
    }

    /// Whether only bytes are missing or damaged, so that `retry` does not help.
    private func isAllQuarantined(_ status: QueueStatus) -> Bool { work(status)?.count([.quarantined]) == count }

    /// No filter tells captures that the user held from those that a salvage held, or finds those without a destination.
    private func isAmbiguous(_ status: QueueStatus) -> Bool {
        destination == nil || work(status)?.isHeldTwice ?? false
    }

    private func work(_ status: QueueStatus) -> DestinationWork? {
        status.work.first { $0.destination?.name == destination }
    }

    /// Spec/capqueue.md section 3.
    func json(_ status: QueueStatus) -> JSONValue {
        .members([
            "code": .string(code.rawValue), "count": .integer(count), "destination": destination.map { .string($0) },
            "exit_code": .integer(Int(self.status.rawValue)), "message": .string(words(status)),
            "next": .string(next(status)),
        ])
    }
}
