import Foundation
import GRDB
import QueueFiles
import QueueModel

/// Stores what is known about the bytes besides their SHA-256, so that sending need not hash them again.
extension Database {
    /// Gives a known capture these bytes.
    ///
    /// - Parameter reference: the user's own file that holds them; nil for the spool.
    func setBytes(
        _ facts: CaptureFacts, reference: String? = nil, tag: BytesTag? = nil, body: BodyHash? = nil,
        ofCapture sequence: Int, at now: Int
    ) throws {
        let holding = reference == nil ? Holding.spool : .reference
        try run(
            """
            UPDATE captures SET sha256 = ?, bytes = ?, holding = ?, reference = ?, removed_at = NULL, stored_at = ?,
                photo = ?, is_condensed = 0, tag = ?, body_sha256 = ?, body_form = ? WHERE seq = ?
            """,
            [
                facts.sha256.data, facts.byteCount, holding.rawValue, reference, now, facts.photo?.data,
                tag.map { Data($0.bytes) }, body?.sha256.data, body?.form, sequence,
            ])
    }

    /// Lets deliveries wait again whose bytes were gone. The `not_before` of the push still applies.
    func restore(_ deliveries: [DeliveryRecord], at now: QueueClock.Reading, cause: String) throws {
        for delivery in deliveries where delivery.state == .quarantined {
            _ = try apply(.restore, to: delivery, at: now.stamp, .init(cause: cause, due: due(of: delivery, now)))
        }
    }

    /// Forgets a tag that does not fit although the SHA-256 is right. From now on the SHA-256 is compared.
    func dropTag(ofCapture sequence: Int) throws {
        try run("UPDATE captures SET tag = NULL WHERE seq = ?", [sequence])
    }
}

extension BytesTag {
    init?(row: Row) throws {
        let value = row["tag"] as DatabaseValue
        if value.isNull { return nil }
        guard case .blob(let data) = value.storage, let tag = BytesTag(bytes: Array(data)) else {
            throw QueueError.corruptRecord("the value in the column tag is invalid")
        }
        self = tag
    }
}

extension BodyHash {
    /// Returns nil if there is no hash yet, or if the body was made in another form.
    init?(row: Row) throws {
        guard let form = try row.text("body_form") else { return nil }
        self.init(sha256: try row.digest("body_sha256"), form: form)
    }
}
