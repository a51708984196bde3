import CaptureBundle
import QueueModel
import SystemPackage

extension QueueHint {
    /// The advice with our commands and options.
    var sentence: String {
        switch self {
        case .words(let text): text
        case .salvage: "rebuild the database from the stored bundles with: capqueue salvage"
        case .salvageAnyway: "look for damage with: capqueue check; to salvage it anyway: --force"
        case .checkData: "set the damaged file aside with: capqueue check --read-data"
        case .checkRepair: "nothing was changed; if the bundles are lost: capqueue check --repair"
        case .restore(let folder): "to make a queue of it: capqueue restore --queue \(ShellWord.quote(folder))"
        case .otherFolder(let isForeign):
            (isForeign ? "capqueue did not create it; " : "") + "name another folder with --queue or CAPQUEUE_DIR"
        case .createQueue(nil): "the first capqueue push creates a queue; to use another folder: --queue DIR"
        case .createQueue(let path?): "to make a new queue there: capqueue init --queue \(ShellWord.quote(path))"
        case .nameInbox(let user):
            "to let others give this queue bundles, \(user ?? "that user") names a folder: capqueue config inbox FOLDER"
        case .push(let file): "add a single bundle with: capqueue push \(ShellWord.quote(file))"
        case .adopt(let folder): "add the bundles in it with: capqueue adopt \(ShellWord.quote(folder))"
        case .adoptPacked(let folder): "pack it and add it with: capqueue adopt --pack \(ShellWord.quote(folder))"
        case .pushByReference: "or push with --reference, which needs no space"
        case .reopenSession: "to open it again and add to it: --reopen"
        case .resend: "to send it again: --resend"
        case .retry(let id): "to try again: capqueue retry \(id)"
        case .release(let id): "to send it: capqueue release \(id)"
        case .cancel(let id): "cancel it first: capqueue cancel \(id)"
        case .oneMount(let folder): "\(Self.oneMountAdvice): \(Self.oneMountCommand(folder))"
        case .quarantine(let folder):
            "push the damaged bundles again, which needs no further room; then delete their old files in \(folder)"
        case .freeSpace: "free some space, with capqueue prune for example"
        case .prune(nil):
            "nothing can be deleted, because nothing is uploaded to all its destinations; send it: capqueue run"
        case .prune(let found?):
            "to delete \(found.captures == 1 ? "1 uploaded bundle" : "\(found.captures) uploaded bundles") "
                + "(\(found.bytes) bytes): \(found.command)"
                + (found.isEnough ? "" : "; that is not enough, so send what waits: capqueue run")
        case .change(.evictUploaded, _):
            "to let push do that when it needs room: capqueue config evict-uploaded on"
        case .change(.requireEncrypted, _):
            "move the queue to an encrypted disk, or allow any disk with: capqueue config require-encrypted off"
        case .change(let name, let isOther):
            (isOther ? "or " : "") + "change \(name == .limit ? "the limit" : name.rawValue) "
                + "with: capqueue config \(name.rawValue) SIZE"
        case .listDestinations(isOther: false): "list the destinations with: capqueue dest list"
        case .listDestinations(isOther: true): "name another destination; list them with: capqueue dest list"
        case .nameDestination: "name one with --dest NAME"
        case .showDestination(let name): "print it with: capqueue dest show \(name)"
        case .changeDestination(let name): "to change it: capqueue dest set \(name), for example with --url URL"
        case .retireDestination(let name): "to add no more captures to it: capqueue dest retire \(name)"
        case .give(let settings, let owner, let example):
            "\(owner) needs \(settings.map { "--\($0)" }.joined(separator: " or "))"
                + (example.map { ", for example --\(settings[0]) \($0)" } ?? "")
        case .makeKey: "make one with: capbundle key new --key FILE"
        }
    }
}

extension QueueHint {
    static let oneMountAdvice = "mount its disk elsewhere, and move back what it holds"

    static func oneMountCommand(_ folder: FilePath) -> String { "mv ELSEWHERE/* \(ShellWord.quote(folder))" }
}

extension Releasable {
    /// The command that deletes them.
    var command: String { "capqueue prune" + (age.map { " --older-than \($0.age)" } ?? "") }
}
