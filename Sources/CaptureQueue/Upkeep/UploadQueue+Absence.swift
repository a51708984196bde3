import CaptureNative
import GRDB
import QueueModel
import SystemPackage

extension UploadQueue {
    /// Lets everything below a folder that is absent wait.
    func wait(for root: FilePath) throws {
        try store.write { try $0.postpone(below: root, until: clock.look($0).wall + Absence.pause) }
    }

    /// Refuses to go on if bundles are stored in the spool, but the folder is missing or empty.
    ///
    /// - Throws: `spool.missing`.
    func requireSpool() throws {
        let files = try store.read { try $0.integer("SELECT files FROM usage") } ?? 0
        guard files > 0, try spool.shards().isEmpty else { return }
        throw QueueError(
            .spoolMissing, "is missing or empty, but \(files) bundles are stored in it: is its disk mounted?",
            of: folder.spool, hints: ["nothing was changed; if the bundles are lost: capqueue check --repair"])
    }
}
