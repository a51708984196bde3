import CaptureBundle
import CaptureNative
import CaptureQueue
import QueueModel
import SystemPackage

extension QueueError.Cause {
    /// The kind of a destination, which is the value, cannot be given to `dest set`.
    static let kind = Self("destination.kind")
}

extension QueueError {
    /// What the user can do about the error: sentences with our commands and options, computed from its code, cause and
    /// subject.
    var advice: [String] {
        if isMendedBySalvage { return ["rebuild the database from the stored bundles with: \(capqueue("salvage"))"] }
        if cause == .apart { return ["\(OneMount.advice): \(OneMount.command(FilePath(id)))"] }
        switch code {
        case .quota, .freeDisk, .encryption: return adviceOnLimits
        case .destinationUnknown, .destinationRetired, .destinationExists, .destinationUsed, .destinationSettings:
            return adviceOnDestinations
        case .openToOthers, .unusable, .missing, .damaged: return adviceOnFolders
        default: return adviceOnWork
        }
    }

    private var place: String { ShellWord.quote(FilePath(subject ?? "")) }
    private var id: String { subject ?? "" }

    private static var freeSpace: String { "free some space, with \(capqueue("prune")) for example" }
    private static let byReference = "or push with --reference, which needs no space"

    /// Advice about the folder of the queue, its disk, its owner and its database.
    private var adviceOnFolders: [String] {
        switch cause {
        case .foreign: ["capqueue did not create it; \(Self.otherFolder)"]
        case .unfit: values.compactMap(Self.mounting) + [Self.otherFolder]
        case .defaultQueue: ["the first capqueue push creates a queue; to use another folder: --queue DIR"]
        case .secret: values.isEmpty ? ["chmod 600 \(place)"] : values.compactMap(Self.mounting)
        case .writable: ["remove the write access, then check what is in it: chmod go-w \(place)"]
        case .otherOwner:
            [
                "only \(values.first ?? "that user") can use this queue",
                "to let others give this queue bundles, \(values.first ?? "that user") names a folder: \(capqueue("config")) inbox FOLDER",
            ]
        case .backupLog:
            [
                "a process was killed in this folder before the backup came; move it away: "
                    + "mv \(place) \(ShellWord.quote(FilePath(id).adding(".old")))"
            ]
        default:
            code != .missing
                ? []
                : [
                    "if the queue is on another disk, check that it is mounted",
                    "to make a new queue there: capqueue init --queue \(place)",
                ]
        }
    }

    private static let otherFolder = "name another folder with --queue or CAPQUEUE_DIR"

    private static func mounting(_ lack: String) -> String? {
        switch lack {
        case "share": "CIFS needs the mount options nobrl,file_mode=0600,dir_mode=0700,uid=NUMBER"
        case "owner": "mount it with umask=077 and the number of this user (uid)"
        case "map": "mount it with a cache: cache.files=partial (mergerfs), the mode full (rclone)"
        default: nil
        }
    }

    /// How to make room for a push.
    private var adviceOnLimits: [String] {
        if code == .encryption {
            return [
                "move the queue to an encrypted disk, or allow any disk with: \(capqueue("config")) require-encrypted off"
            ]
        }
        if cause == .largerThanLimit {
            return ["change the limit with: \(capqueue("config")) limit SIZE", Self.byReference]
        }
        var advice = values.map { folder in
            "push the damaged bundles again, which needs no further room; then delete their old files in \(folder)"
        }
        if let prunable {
            advice.append(prunable.advice)
        } else if values.isEmpty {
            advice.append(
                "nothing can be deleted, because nothing is uploaded to all its destinations; send it: \(capqueue("run"))"
            )
        }
        if cause == .evictable {
            advice.append("to let push do that when it needs room: \(capqueue("config")) evict-uploaded on")
        }
        return advice
            + (code == .quota
                ? ["or change the limit with: \(capqueue("config")) limit SIZE"]
                : ["or change free-floor with: \(capqueue("config")) free-floor SIZE", Self.byReference])
    }

    private var adviceOnDestinations: [String] {
        switch (code, cause) {
        case (.destinationUnknown, .formerName): []
        case (.destinationUnknown, _): ["list the destinations with: \(capqueue("dest list"))"]
        case (.destinationRetired, _): ["name another destination; list them with: \(capqueue("dest list"))"]
        case (.destinationUsed, _):
            [
                "without it, receipts would no longer say where captures were sent",
                "to add no more captures to it: \(capqueue("dest retire")) \(id)",
            ]
        case (_, .used): ["print it with: \(capqueue("dest show")) \(id)"]
        case (_, .changeable): ["to change it: \(capqueue("dest set")) \(id), for example with --url URL"]
        case (_, .formerName):
            values.map { "bundles in the queue still use it for \($0); choose another name" }
        case (_, .missingSetting): [missingSetting]
        case (_, .otherKey): ["make one with: capbundle key new --key FILE"]
        case (_, .sharedURL): ["add {sha256} to it, for example {id}-{sha256}.bundle"]
        case (_, .shownPIN):
            ["write the PIN to a file, and name it with pin-source in the URI, or with passphrase-file"]
        case (_, .unmounted): ["mount its disk there first; another folder is another destination"]
        case (_, .otherFolder): ["another folder is another destination"]
        default: []
        }
    }

    private var missingSetting: String {
        let names = values.dropFirst(2).map { "--\($0)" }
        let example = values.count < 3 || values[1].isEmpty ? "" : ", for example \(names[0]) \(values[1])"
        return "\(values.first ?? "it") needs \(names.joined(separator: " or "))\(example)"
    }

    /// Advice about captures, sessions, runs and what they read and write.
    private var adviceOnWork: [String] {
        switch (code, cause) {
        case (.newer, _): ["install a newer capqueue; nothing was changed"]
        case (.sessionEnded, _): ["to open it again and add to it: --reopen"]
        case (.spoolMissing, _): ["nothing was changed; if the bundles are lost: \(capqueue("check")) --repair"]
        case (.spoolDamaged, _), (.sourceChanged, _):
            ["set the damaged file aside with: \(capqueue("check")) --read-data"]
        case (_, .gone): ["push the bundle again"]
        case (_, .oldRun): ["stop that run; the next command of this version makes the change"]
        case (_, .replaced):
            ["if the queue is on another disk, check that it is mounted; then start the run again"]
        case (_, .fileSize): values.map { "no file may be larger than \($0) bytes here (ulimit -f)" }
        case (_, .noRoomToSend): [Self.freeSpace]
        case (_, .noRoomToStore): [Self.freeSpace, Self.byReference]
        case (_, .keptForRoot): ["the disk has free blocks, but its last blocks are kept for root (tune2fs -m)"]
        case (_, .rawCapture): ["pack it and add it with: \(capqueue("adopt")) --pack \(place)"]
        case (_, .folder): ["add the bundles in it with: \(capqueue("adopt")) \(place)"]
        case (_, .file): ["add a single bundle with: \(capqueue("push")) \(place)"]
        case (_, .backup): ["to make a queue of it: capqueue restore --queue \(place)"]
        case (_, .sound): ["look for damage with: \(capqueue("check")); to salvage it anyway: --force"]
        case (_, .notCancelled): ["cancel it first: \(capqueue("cancel")) \(id)"]
        case (_, .ambiguous): ["name one with --dest NAME"]
        case (_, .kind):
            [
                "add another destination with: \(capqueue("dest add")) NEW --kind \(values.first ?? "KIND") ...",
                "then move the captures to it with: \(capqueue("retry")) --failed --dest \(id); \(capqueue("dest retire")) \(id) --to NEW",
            ]
        default: []
        }
    }
}

/// How to put a folder of the queue on the mount of the others.
enum OneMount {
    static let advice = "mount its disk elsewhere, and move back what it holds"

    static func command(_ folder: FilePath) -> String { "mv ELSEWHERE/* \(ShellWord.quote(folder))" }
}

extension Prunable {
    /// The command that deletes them.
    var command: String { capqueue("prune") + (age.map { " --older-than \($0.age)" } ?? "") }

    fileprivate var advice: String {
        "to delete \(captures == 1 ? "1 uploaded bundle" : "\(captures) uploaded bundles") (\(bytes) bytes): \(command)"
            + (isEnough ? "" : "; that is not enough, so send what waits: \(capqueue("run"))")
    }
}

extension Pushed.Note {
    /// How to send the capture with this id.
    func advice(_ id: String) -> String? {
        if canBeResent { return "to send it again: --resend" }
        return switch change {
        case .retry: "to try again: \(capqueue("retry")) \(id)"
        case .release: "to send it: \(capqueue("release")) \(id)"
        default: nil
        }
    }
}
