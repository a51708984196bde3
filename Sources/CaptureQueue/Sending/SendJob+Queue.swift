import CaptureBundle
import Foundation
import GRDB
import QueueFiles
import QueueModel
import QueueTransports
import SystemPackage

extension SendJob {
    /// Makes a job for a delivery of a queue.
    ///
    /// - Parameters:
    ///   - held: the hash of the bytes in the queue; nil if they are the capture's bytes.
    ///   - place: what was taken with the claim.
    ///   - layout: the layout of the upload body, if it is known.
    init(
        _ capture: CaptureRecord, _ delivery: DeliveryRecord, token: [UInt8], now: Int, held: Digest? = nil,
        place: TakenPlace? = nil, layout: BodyLayout? = nil, _ queue: UploadQueue
    ) {
        let file =
            capture.holding == .reference
            ? FilePath(capture.reference ?? "") : queue.folder.bundlePath(held ?? capture.sha256)
        self.init(
            capture, delivery, token: token, now: now, file: file, held: held,
            records: DeliveryRecords(queue: queue, capture: capture, delivery: delivery, token: token, known: place),
            layout: layout)
    }

    init(_ claim: Claim, now: Int, layout: BodyLayout? = nil, _ queue: UploadQueue) {
        self.init(
            claim.capture, claim.delivery, token: claim.token, now: now, place: claim.place, layout: layout, queue)
    }
}

/// The queue's records of one delivery, for its transport.
struct DeliveryRecords: SendRecords {
    let queue: UploadQueue
    let capture: CaptureRecord
    let delivery: DeliveryRecord
    let token: [UInt8]
    /// The place that was taken with the claim.
    var known: TakenPlace?

    func isAnother(_ remoteID: String, photo: Digest) -> Bool {
        // If the queue cannot be read, the capture is sent again, which is better than never.
        (try? queue.store.read { try $0.mayBeAnother(remoteID, of: capture, photo: photo) }) ?? true
    }

    func hadLanded() -> Bool { (try? queue.store.read { try $0.hadLanded(capture, delivery) }) ?? false }

    func keep(_ finding: SendFinding) {
        try? queue.store.write { db in
            switch finding {
            case .body(let hash): try db.keep(hash, of: capture)
            case .digests(let traits):
                try db.keep(traits, where: "id = (SELECT destination FROM deliveries WHERE id = ?)", delivery.number)
            case .accepted(let status):
                try db.run(
                    "UPDATE deliveries SET place_status = ? WHERE id = ? AND token = ?",
                    [status, delivery.number, Data(token)])
            }
        }
    }
}

extension Database {
    /// Whether the delivery was completed with these bytes before, and is sent again because the copy there may be lost.
    fileprivate func hadLanded(_ capture: CaptureRecord, _ delivery: DeliveryRecord) throws -> Bool {
        // Another packing of the capture was delivered.
        if let sent = delivery.receipt.flatMap(Receipt.sha256), sent != capture.sha256 { return false }
        let last = try text(
            """
            SELECT event FROM transitions WHERE delivery = ?
                AND event IN ('complete', 'record', 'lose', 'resend') ORDER BY id DESC LIMIT 1
            """, [delivery.number])
        return last == "lose" || last == "resend"
    }

    /// Stores the hash of an upload body, unless the bytes of the capture have changed.
    fileprivate func keep(_ body: BodyHash, of capture: CaptureRecord) throws {
        try run(
            "UPDATE captures SET body_sha256 = ?, body_form = ? WHERE seq = ? AND sha256 = ?",
            [body.sha256.data, body.form, capture.sequence, capture.sha256.data])
    }

    /// The SQL condition for captures that a server may have under an id that we never learned: they were tried, or
    /// uploaded by other means. An id from another destination does not help, because that may be another server.
    private static let mayHaveUnknownID = """
        EXISTS (SELECT 1 FROM deliveries WHERE capture = seq AND remote_id IS NULL
            AND (destination IS NULL OR destination IN (SELECT id FROM destinations WHERE kind = 'http'))
            AND (state = 'completed' OR was_tried = 1
                OR EXISTS (SELECT 1 FROM attempts WHERE attempts.delivery = deliveries.id)))
        """

    /// Whether `remoteID` belongs to another capture, at any destination, or possibly does: to one with the same photo,
    /// or to one whose photo is unknown. Captures share a photo as a redacted and a full copy, as links of a chain, or
    /// with other metadata, and a server that is asked for the photo may return the id of any of them.
    fileprivate func mayBeAnother(_ remoteID: String, of capture: CaptureRecord, photo: Digest) throws -> Bool {
        let known = try integer(
            "SELECT 1 FROM deliveries WHERE capture <> ? AND remote_id = ?", [capture.sequence, remoteID])
        if known != nil { return true }
        return try integer(
            "SELECT 1 FROM captures WHERE seq <> ? AND (photo = ? OR photo IS NULL) AND \(Self.mayHaveUnknownID)",
            [capture.sequence, photo.data]) != nil
    }
}
