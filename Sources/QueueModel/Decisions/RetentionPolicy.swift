package import CaptureBundle

/// What may be deleted, and nothing else is: the one place that decides (Spec/queue.md section 8). Pure: the time is handed in.
package struct RetentionPolicy: Sendable {
    /// How long bytes are kept after the last delivery was completed and after they were stored, in milliseconds.
    package let retention: Int
    /// Whether the user asked for what was cancelled to go.
    package let includesCancelled: Bool
    /// Whether receipts of parts of a bundle let it go, too.
    package let acceptsParts: Bool

    package init(retention: Int, includesCancelled: Bool, acceptsParts: Bool = false) {
        self.retention = retention
        self.includesCancelled = includesCancelled
        self.acceptsParts = acceptsParts
    }

    /// What is known of a capture when its deletion is asked for.
    package struct Facts: Hashable, Sendable {
        package struct Delivery: Hashable, Sendable {
            package let state: DeliveryState
            package let hasReceipt: Bool
            /// The receipt says that only a part of the bundle was sent.
            package let isOfPart: Bool

            package init(state: DeliveryState, hasReceipt: Bool, isOfPart: Bool = false) {
                self.state = state
                self.hasReceipt = hasReceipt
                self.isOfPart = isOfPart
            }
        }

        package let sha256: Digest
        package let holding: Holding
        package let deliveries: [Delivery]
        package let finishedAt: Int?
        /// When the bytes came the last time.
        package let storedAt: Int

        package init(sha256: Digest, holding: Holding, deliveries: [Delivery], finishedAt: Int?, storedAt: Int = 0) {
            self.storedAt = storedAt
            self.sha256 = sha256
            self.holding = holding
            self.deliveries = deliveries
            self.finishedAt = finishedAt
        }
    }

    /// - Parameter now: what can be believed of the time, in Unix milliseconds (`QueueClock.Reading.believed`).
    /// - Returns: nil when the bytes have to stay.
    package func permit(_ facts: Facts, now: Int) -> RemovalPermit? {
        guard [.spool, .reference, .removing].contains(facts.holding), !facts.deliveries.isEmpty else { return nil }
        let landed = facts.deliveries.filter { $0.state == .completed && $0.hasReceipt }
        let cancelled = facts.deliveries.filter { $0.state == .cancelled }
        guard landed.count + cancelled.count == facts.deliveries.count else { return nil }
        if landed.isEmpty {
            guard includesCancelled else { return nil }
        } else {
            guard acceptsParts || landed.contains(where: { !$0.isOfPart }), let finished = facts.finishedAt else {
                return nil
            }
            let since = max(finished, facts.storedAt)
            guard since <= now, now - since >= retention else { return nil }
        }
        return RemovalPermit(sha256: facts.sha256, includesBundle: facts.holding != .reference)
    }

    /// For a deletion that was decided and committed before, and cut short.
    package static func permitToFinish(_ sha256: Digest, _ holding: Holding, isReference: Bool) -> RemovalPermit? {
        holding == .removing ? RemovalPermit(sha256: sha256, includesBundle: !isReference) : nil
    }

    /// For files that a push gave their names and whose rows it could not write, so that nobody was told of them.
    ///
    /// - Parameter rows: how many rows name these bytes.
    package static func permitToTakeBack(_ sha256: Digest, rows: Int) -> RemovalPermit? {
        rows == 0 ? RemovalPermit(sha256: sha256, includesBundle: true) : nil
    }

    /// For a sidecar in whose place another, of the same bundle, comes in the same turn.
    package static func permitToReplaceSidecar(_ sha256: Digest) -> RemovalPermit {
        RemovalPermit(sha256: sha256, includesBundle: false)
    }

    /// For a sidecar beside which no bundle stands, and that no row needs.
    package static func permitForSidecar(_ sha256: Digest, rows: Int, hasBundle: Bool) -> RemovalPermit? {
        rows == 0 && !hasBundle ? RemovalPermit(sha256: sha256, includesBundle: false) : nil
    }
}

/// The permission to unlink the files of one capture. Nothing but `RetentionPolicy` can make one.
package struct RemovalPermit: Hashable, Sendable {
    package let sha256: Digest
    /// False for a capture by reference, whose bundle is the user's own file: only the sidecar goes.
    package let includesBundle: Bool

    fileprivate init(sha256: Digest, includesBundle: Bool) {
        self.sha256 = sha256
        self.includesBundle = includesBundle
    }
}
