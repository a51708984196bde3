import GRDB
import QueueModel

/// The deliveries that a run still has to complete.
public struct RunBacklog: Hashable, Sendable {
    public let deliveries: Int
    /// The total size of their bundles.
    public let bytes: Int

    /// The backlog after some of the deliveries were completed.
    public func without(_ landed: Int, bytes: Int) -> RunBacklog {
        RunBacklog(deliveries: max(0, deliveries - landed), bytes: max(0, self.bytes - bytes))
    }
}

extension UploadQueue.Destinations {
    /// Counts the deliveries that wait or are being sent: all of them, or those to one destination.
    ///
    /// - Parameter isDueNow: whether deliveries that are due later are left out.
    public func backlog(of name: String?, isDueNow: Bool) throws -> RunBacklog {
        try queue.store.read { db in
            let row = try db.row(
                """
                SELECT count(*) AS deliveries, coalesce(sum(captures.bytes), 0) AS bytes
                FROM destinations JOIN deliveries ON deliveries.destination = destinations.id
                    JOIN captures ON captures.seq = deliveries.capture
                WHERE (?1 IS NULL OR destinations.name = ?1) AND (deliveries.state = 'uploading'
                    OR deliveries.state IN ('pending', 'failed') AND (?2 IS NULL OR deliveries.due <= ?2))
                """, [name, isDueNow ? queue.clock.read(db).wall : nil])
            return RunBacklog(
                deliveries: try row?.needInteger("deliveries") ?? 0, bytes: try row?.needInteger("bytes") ?? 0)
        }
    }
}
