import CaptureBundle
import Foundation
import GRDB
import QueueModel
import QueueTransports

/// Records where `put` sends bytes, so that a place proves one capture (Spec/upload.md section 4.3).
extension DeliveryRecords {
    func take(_ place: Digest, _ sha256: Digest) -> PlaceTurn {
        if let known, known.place == place, known.sha256 == sha256, case .ours = known.turn { return known.turn }
        do {
            return try queue.store.write { try take(place, for: sha256, $0).turn }
        } catch {
            return .unknown("the place of the upload cannot be recorded: \(error)")
        }
    }

    func take(_ place: Digest, for sha256: Digest, _ db: Database) throws -> TakenPlace {
        TakenPlace(place: place, sha256: sha256, turn: try turn(place, for: sha256, db))
    }

    private func turn(_ place: Digest, for sha256: Digest, _ db: Database) throws -> PlaceTurn {
        let other = try db.text(
            """
            SELECT captures.id FROM deliveries JOIN captures ON seq = capture
            WHERE place = ? AND place_sha256 <> ? AND deliveries.id <> ? LIMIT 1
            """, [place.data, sha256.data, delivery.number])
        if let other { return .taken(by: other) }
        let row = try db.row(
            "SELECT place_status FROM deliveries WHERE id = ? AND place = ? AND place_sha256 = ?",
            [delivery.number, place.data, sha256.data])
        if let row { return .ours(acceptedWith: try row.integer("place_status"), wasTried: true) }
        try db.run(
            """
            UPDATE deliveries SET place = ?, place_sha256 = ?, place_status = NULL
            WHERE id = ? AND token = ? AND state = 'uploading'
            """,
            [place.data, sha256.data, delivery.number, Data(token)])
        return db.changesCount == 1 ? .ours(acceptedWith: nil, wasTried: false) : .unknown("the claim has expired")
    }
}
