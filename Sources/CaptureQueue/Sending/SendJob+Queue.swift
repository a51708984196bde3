import CaptureBundle
import Foundation
import GRDB
import QueueModel
import QueueTransports
import SystemPackage

extension SendJob {
    /// Makes a job for a delivery of a queue.
    ///
    /// - Parameter held: the hash of the bytes in the queue; nil if they are the capture's bytes.
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
                // If the queue cannot be read, the capture is sent again, which is better than never.
                (try? queue.mayBeAnother(remoteID, of: capture, photo: photo)) ?? true
            }, keepBody: { body in try? queue.keep(body, of: capture) },
            places: PutPlaces(queue: queue, delivery: delivery, token: token),
            hadLanded: { (try? queue.hadLanded(capture, delivery)) ?? false })
    }
}

extension UploadQueue {
    /// Whether the delivery was completed with these bytes before, and is sent again because the copy there may be lost.
    fileprivate func hadLanded(_ capture: CaptureRecord, _ delivery: DeliveryRecord) throws -> Bool {
        // Another packing of the capture was delivered.
        if let sent = delivery.receipt.flatMap(Receipt.sha256), sent != capture.sha256 { return false }
        let last = try store.read { db in
            try db.text(
                """
                SELECT event FROM transitions WHERE delivery = ?
                    AND event IN ('complete', 'record', 'lose', 'resend') ORDER BY id DESC LIMIT 1
                """, [delivery.number])
        }
        return last == "lose" || last == "resend"
    }

    /// Stores the hash of an upload body, unless the bytes of the capture have changed.
    func keep(_ body: BodyHash, of capture: CaptureRecord) throws {
        try store.write { db in
            try db.run(
                "UPDATE captures SET body_sha256 = ?, body_form = ? WHERE seq = ? AND sha256 = ?",
                [body.sha256.data, body.form, capture.sequence, capture.sha256.data])
        }
    }
}
