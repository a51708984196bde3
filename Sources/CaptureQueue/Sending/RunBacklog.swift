import GRDB
import QueueModel

/// What a run still has to send.
public struct RunBacklog: Hashable, Sendable {
    public let deliveries: Int
    /// Of the bundles.
    public let bytes: Int

    /// The same after so many of them landed.
    public func without(_ landed: Int, bytes: Int) -> RunBacklog {
        RunBacklog(deliveries: max(0, deliveries - landed), bytes: max(0, self.bytes - bytes))
    }
}

extension UploadQueue {
    /// What waits for a destination or is on its way: all of it, or to the one of this name.
    ///
    /// - Parameter isDueNow: whether what is due later is left out.
    public func backlog(to name: String?, isDueNow: Bool) throws -> RunBacklog {
        try store.read { db in
            let row = try db.row(
                """
                SELECT count(*) AS deliveries, coalesce(sum(captures.bytes), 0) AS bytes
                FROM destinations JOIN deliveries ON deliveries.destination = destinations.id
                    JOIN captures ON captures.seq = deliveries.capture
                WHERE (?1 IS NULL OR destinations.name = ?1) AND (deliveries.state = 'uploading'
                    OR deliveries.state IN ('pending', 'failed') AND (?2 IS NULL OR deliveries.due <= ?2))
                """, [name, isDueNow ? clock.read(db).stamp : nil])
            return RunBacklog(
                deliveries: try row?.needInteger("deliveries") ?? 0, bytes: try row?.needInteger("bytes") ?? 0)
        }
    }
}
