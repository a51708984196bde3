import CaptureBundle
import CaptureNative
import CaptureQueue
import CommandSupport
import QueueFiles
import QueueModel
import SystemPackage

extension QueueConcern {
    /// What `status --check` answers for it.
    var status: ExitStatus {
        switch code {
        case .failed: .failedForGood
        case .atLimit, .lowDisk, .lowInodes, .overMark: .overMark
        case .readOnlyDisk, .unencryptedDisk, .fat, .noJournal, .apart, .spoolAbsent, .absent, .unassigned, .held,
            .salvaged, .blocked,
            .destinationPaused, .queuePaused, .untold, .keptBack, .cutShort, .old, .copiesWrong, .copiesAbsent, .inbox,
            .clock:
            .workLeft
        }
    }

    /// For people: what was found, and the next command.
    func line(_ status: QueueStatus) -> String {
        let words = words(status)
        return "\(words.found); \(words.advice): \(words.next)"
    }

    /// What was found, what to do about it, and the command that does it.
    func words(_ status: QueueStatus) -> (found: String, advice: String, next: String) {
        let name = destination ?? ""
        let work = status.work.first { $0.destination?.name == destination }
        let captures = Quantity.count(count, "capture")
        let sessions = Quantity.count(code == .keptBack || code == .untold ? count : ends, "session")
        let endings = ends == 0 ? "" : "the end\(ends == 1 ? "" : "s") of \(sessions)"
        let stopped = [count > ends ? Quantity.count(count - ends, "capture") : "", endings].filter { !$0.isEmpty }
            .joined(separator: " and ")
        let placed = captures + (destination.map { " for \($0)" } ?? "")
        let (be, have, them) = count == 1 ? ("is", "has", "it") : ("are", "have", "them")
        switch code {
        case .failed:
            let all = DeliveryState.failedForGood.map(\.rawValue).joined(separator: ",")
            let found = "\(placed) failed for good"
            // If only bytes are missing or damaged, `retry` does not help.
            return work?.count([.quarantined]) == count
                ? (found, "look for \(count == 1 ? "its" : "their") bytes again", capqueue("check"))
                : (found, "list them", "\(capqueue("list")) --state \(all)")
        case .atLimit:
            let limit = status.settings.text(.limit)
            return room(
                status, setting: .limit,
                "the spool holds \(used(status)), the limit is \(limit), so push refuses new captures"
            )
        case .lowDisk where status.takenByRoot > 0:
            let taken = Quantity.bytes(status.takenByRoot)
            let found = "the disk is full for this user, because root has used \(taken) of what is kept for root"
            return (found, "let root free that much, or keep less for it", "tune2fs -m PERCENT DEVICE")
        case .lowDisk where status.isQuotaFull:
            let found = "a quota has no room for another capture, so push refuses new captures"
            return room(status, last: ("delete other files, or raise the quota", "quota -s"), found)
        case .lowDisk:
            let free = "\(Quantity.bytes(status.freeBytes ?? 0)) are free on the disk"
            let found = status.floorWords.map {
                "\(free), but \($0) must stay free (free-floor), so push refuses new captures"
            }
            return room(status, setting: .freeFloor, found ?? "only \(free)")
        case .lowInodes:
            let found = "the disk has room for only \(Quantity.count(status.freeInodes ?? 0, "further file")) (inodes)"
            // A run makes files too.
            return room(status, last: ("nothing can be pruned, so delete other files", "df -i"), found, sends: false)
        case .readOnlyDisk:
            if let folder = status.unwritableFolder {
                let found = "\(folder) cannot be written by this user, so push refuses new captures"
                return (found, "make it writable", "chmod u+rwx \(ShellWord.quote(folder))")
            }
            let found = "the disk is read-only, so nothing can be stored, sent or deleted"
            return (found, "find out why, and make it writable", "dmesg")
        case .unencryptedDisk:
            let found = "nothing encrypts the disk (require-encrypted is on), so push refuses new captures"
            return (
                found, "move the queue to an encrypted disk, or allow this one",
                "\(capqueue("config")) require-encrypted off"
            )
        case .fat, .noJournal:
            let journal = code == .fat ? "" : "add a journal (tune2fs -O has_journal), or "
            let advice = "\(journal)make a backup, and restore it on another disk"
            return (status.disk.queueWords ?? "", advice, "\(capqueue("backup")) FOLDER")
        case .apart:
            let folder = status.folderApart ?? ""
            let isOfDamage = folder.name == "quarantine"
            let so = isOfDamage ? "damage cannot be set aside" : "push refuses new captures"
            return (
                "\(folder) \(QueueFolder.apartWords), so \(so)", OneMount.advice,
                OneMount.command(folder)
            )
        case .spoolAbsent:
            return (
                "the spool is missing or empty, but bundles are stored in it: its disk may not be mounted",
                "mount it, then look again", capqueue("check")
            )
        case .absent:
            let found =
                "\(placed) \(be) stored by reference in a folder that is missing or empty: its disk may not be mounted"
            return (found, "mount it, then look again", capqueue("check"))
        case .overMark:
            let mark = ByteSize.text(status.settings.warnAt)
            return room(
                status, setting: .warnAt, "the spool holds \(used(status)), more than warn-at (\(mark))")
        case .unassigned:
            let found = "\(captures) \(have) no destination, so nothing sends \(them)"
            return (found, "add a destination", "\(capqueue("dest add")) NAME --kind KIND ...")
        case .held, .salvaged:
            let by = code == .held ? "" : " by salvage, check --repair or adopt, which cannot know what was sent before"
            // No filter tells captures that the user held from those that a salvage held, or finds those without a
            // destination.
            return destination == nil || work?.isHeldTwice ?? false
                ? ("\(placed) \(be) held\(by)", "release by id what may be sent", "\(capqueue("list")) --state held")
                : ("\(placed) \(be) held\(by)", "send \(them)", "\(capqueue("release")) --dest \(name)")
        case .blocked:
            let block = work?.destination?.block
            let why = block.map { " (\($0.reason.rawValue)): \(Visible.text($0.message))" } ?? ""
            let found = "\(stopped) cannot be sent, because \(name) is blocked\(why)"
            // A program may follow `next`, and to give up proofs is a person's decision.
            let isSafe = block?.reason != .unproven
            if let block, isSafe, let change = NextSteps.change(after: block, name) {
                return (found, change.advice, change.next)
            }
            // A block that comes from the settings: `dest test` finds nothing.
            return block.map { [.address, .unproven].contains($0.reason) } ?? false
                ? (found, "see its settings", "\(capqueue("dest show")) \(name)")
                : (found, "find out why", "\(capqueue("dest test")) \(name)")
        case .destinationPaused:
            let found = "\(stopped) cannot be sent, because \(name) is paused"
            return (found, "resume sending", "\(capqueue("resume")) --dest \(name)")
        case .queuePaused:
            return ("\(stopped) cannot be sent, because the queue is paused", "resume sending", capqueue("resume"))
        case .untold:
            let found = "\(name) has not accepted the end of \(sessions) in several attempts"
            return (found, "find out why", "\(capqueue("dest test")) \(name)")
        case .keptBack:
            let names = work?.keptBackSessions ?? []
            guard let only = names.first, names.count == 1 else {
                let found = "captures of \(sessions) were cancelled, so the ends are not reported to \(name)"
                return (found, "report each without them (session end NAME --incomplete)", capqueue("session list"))
            }
            let found = "a capture of session \(only) was cancelled, so its end is not reported to \(name)"
            return (found, "report it without what was cancelled", "\(capqueue("session end")) \(only) --incomplete")
        case .cutShort:
            let (was, why) = (count == 1 ? "was" : "were", work?.cutShort?.message ?? "")
            let found = "\(placed) \(was) not sent in three tries: \(why) (--max-duration)"
            return (found, "send without a limit", "\(capqueue("run")) --dest \(name)")
        case .old:
            let (whom, age) = (destination.map { " for \($0)" } ?? "", (work?.oldestAge ?? .zero).words)
            if let end = work?.oldestEnd, end.age == work?.oldestAge {
                return (
                    "the end of session \(end.id)\(whom) has waited for \(age)", "see why",
                    "\(capqueue("dest test")) \(name)"
                )
            }
            let id = work?.oldestWaiting?.id ?? ""
            return ("\(id)\(whom) has waited for \(age)", "see why", "\(capqueue("history")) \(id)")
        case .copiesWrong:
            let found =
                "\(count == 1 ? "a copy" : "\(count) copies") in \(name) \(have) other bytes than the receipt says"
            return (found, "send \(them) again", "\(capqueue("check")) --remote")
        case .copiesAbsent:
            let found =
                "\(count == 1 ? "a copy" : "\(count) copies") \(be) not in \(name), and may be lost after a power cut"
            let advice = "send \(them) again, or \(capqueue("prune")) --accept-absent if you have moved \(them) away"
            return (found, advice, "\(capqueue("check")) --remote")
        case .inbox:
            let inbox = "the inbox \(status.settings.inbox ?? "")"
            let left = "\(Quantity.count(count, "file")) in \(inbox) \(have) been there for more than 10 minutes"
            return (status.inboxFault.map { "\(inbox) cannot be read: \($0)" } ?? left, "see why", capqueue("run"))
        case .clock:
            let found =
                "the clock differs by \((status.clockDoubt ?? .zero).words) from the expected time, so deletion is "
                + "delayed, and sending can wait until the next run"
            return (found, "if the clock is correct now", "\(capqueue("prune")) --accept-clock")
        }
    }

    private func used(_ status: QueueStatus) -> String {
        let damaged = status.quarantinedBytes
        let which = damaged > 0 ? ", \(Quantity.bytes(damaged)) of it damaged and in quarantine" : ""
        return Quantity.bytes(status.usedBytes) + which
    }

    /// How to make room. Nothing is deleted before it is uploaded, so `prune` is named only where it has something to do.
    private func room(
        _ status: QueueStatus, setting: QueueSettings.Name, _ found: String
    ) -> (found: String, advice: String, next: String) {
        let advice = "nothing can be pruned, so change \(setting.rawValue)"
        return room(status, last: (advice, "\(capqueue("config")) \(setting.rawValue) SIZE"), found)
    }

    /// - Parameter last: what helps if nothing can be deleted or sent.
    private func room(
        _ status: QueueStatus, last: (advice: String, next: String), _ found: String, sends: Bool = true
    ) -> (found: String, advice: String, next: String) {
        if let prunable = status.prunable {
            let least = prunable.isAll ? "" : "at least "
            let what = "\(least)\(Quantity.count(prunable.captures, "uploaded bundle"))"
            return (found, "delete \(what) (\(Quantity.bytes(prunable.bytes)))", prunable.command)
        }
        if status.isCrowdedByQuarantine, [.atLimit, .overMark].contains(code) {
            let advice = "push the damaged bundles again, and then delete their old files"
            return (found, advice, "ls -l \(ShellWord.quote(status.quarantine))")
        }
        if sends, status.waiting > 0 { return (found, "nothing is fully uploaded yet, so send it", capqueue("run")) }
        return (found, last.advice, last.next)
    }

    /// Spec/capqueue.md section 3.
    func json(_ status: QueueStatus) -> JSONValue {
        let words = words(status)
        return .members([
            "code": .string(code.rawValue), "count": .integer(count), "destination": .text(destination),
            "exit_code": .count(self.status.rawValue), "message": .string(words.found), "next": .string(words.next),
        ])
    }
}
