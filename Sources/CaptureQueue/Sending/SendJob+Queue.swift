import CaptureBundle
import Foundation
import GRDB
import QueueModel
import QueueTransports
import SystemPackage

extension SendJob {
    /// What is to be sent of a queue.
    ///
    /// - Parameter held: the hash of the bytes that the queue has; nil for that of the capture.
    init(
        _ capture: CaptureRecord, _ delivery: DeliveryRecord, token: [UInt8], now: Int, held: Digest? = nil,
        _ queue: UploadQueue
    ) {
        let file =
            capture.holding == .reference
            ? FilePath(capture.reference ?? "") : queue.folder.bundlePath(held ?? capture.sha256)
        self.init(
            capture, delivery, token: token, now: now, file: file, held: held,
            isAnother: { remoteID, photo in
                // Where that cannot be read, it is sent once more rather than never.
                (try? queue.mayBeAnother(remoteID, of: capture, photo: photo)) ?? true
            }, keepBody: { body in try? queue.keep(body, of: capture) })
    }
}

extension UploadQueue {
    /// Keeps the hash of an upload body, unless the capture has other bytes by now.
    func keep(_ body: BodyHash, of capture: CaptureRecord) throws {
        try store.write { db in
            try db.run(
                "UPDATE captures SET body_sha256 = ?, body_form = ? WHERE seq = ? AND sha256 = ?",
                [body.sha256.data, body.form, capture.sequence, capture.sha256.data])
        }
    }
}
