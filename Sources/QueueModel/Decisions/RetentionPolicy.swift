package import CaptureBundle

/// Decides which files may be deleted; no other code deletes files of the spool (Spec/queue.md section 8).
package struct RetentionPolicy: Sendable {
    /// How many milliseconds bytes are kept after their last completed delivery and after they were stored.
    package let retention: Int
    /// What the user asked for.
    package let options: PruneOptions

    package init(retention: Int, _ options: PruneOptions = PruneOptions()) {
        (self.retention, self.options) = (retention, options)
    }

    /// The facts about a capture that decide about its deletion.
    package struct Facts: Hashable, Sendable {
        package struct Delivery: Hashable, Sendable {
            package let state: DeliveryState
            package let hasReceipt: Bool
            /// Whether the receipt says that only a part of the bundle was sent.
            package let isOfPart: Bool
            /// Why the copy may be lost although there is a receipt.
            package let doubt: CopyDoubt?

            package init(state: DeliveryState, hasReceipt: Bool, isOfPart: Bool = false, doubt: CopyDoubt? = nil) {
                self.state = state
                self.hasReceipt = hasReceipt
                self.isOfPart = isOfPart
                self.doubt = doubt
            }
        }

        package let sha256: Digest
        package let holding: Holding
        package let deliveries: [Delivery]
        package let finishedAt: Int?
        /// When the bytes were last stored, in Unix milliseconds.
        package let storedAt: Int

        package init(sha256: Digest, holding: Holding, deliveries: [Delivery], finishedAt: Int?, storedAt: Int = 0) {
            self.storedAt = storedAt
            self.sha256 = sha256
            self.holding = holding
            self.deliveries = deliveries
            self.finishedAt = finishedAt
        }
    }

    /// Returns the permission to delete a capture.
    ///
    /// - Parameter now: the trusted time in Unix milliseconds (`QueueClock.Reading.believed`).
    /// - Returns: nil if the bytes must be kept.
    package func permit(_ facts: Facts, now: Int) -> RemovalPermit? {
        guard [.spool, .reference, .removing].contains(facts.holding), !facts.deliveries.isEmpty else { return nil }
        let landed = facts.deliveries.filter { $0.state == .completed && $0.hasReceipt }
        let cancelled = facts.deliveries.filter { $0.state == .cancelled }
        guard landed.count + cancelled.count == facts.deliveries.count,
            landed.allSatisfy({ $0.doubt == nil || $0.doubt == .absent && options.acceptsAbsent })
        else { return nil }
        if landed.isEmpty {
            guard options.includesCancelled else { return nil }
        } else {
            guard options.acceptsParts || landed.contains(where: { !$0.isOfPart }), let finished = facts.finishedAt
            else {
                return nil
            }
            let since = max(finished, facts.storedAt)
            guard since <= now, now - since >= retention else { return nil }
        }
        return RemovalPermit(sha256: facts.sha256, includesBundle: facts.holding != .reference)
    }

    /// Permits finishing a deletion that was committed before and then interrupted.
    package static func permitToFinish(_ sha256: Digest, _ holding: Holding, isReference: Bool) -> RemovalPermit? {
        holding == .removing ? RemovalPermit(sha256: sha256, includesBundle: !isReference) : nil
    }

    /// Permits removing files that a push has stored but could not record, so that their ids were never printed.
    ///
    /// - Parameter rows: the number of rows that name these bytes.
    package static func permitToTakeBack(_ sha256: Digest, rows: Int) -> RemovalPermit? {
        rows == 0 ? RemovalPermit(sha256: sha256, includesBundle: true) : nil
    }

    /// Permits removing files from a backup, if the queue has deleted each capture with these bytes.
    package static func permitInBackup(_ sha256: Digest, _ holdings: [Holding?]) -> RemovalPermit? {
        guard !holdings.isEmpty, holdings.allSatisfy({ $0 == .removed }) else { return nil }
        return RemovalPermit(sha256: sha256, includesBundle: true)
    }

    /// Permits replacing a sidecar by another one of the same bundle, which is written in the same turn.
    package static func permitToReplaceSidecar(_ sha256: Digest) -> RemovalPermit {
        RemovalPermit(sha256: sha256, includesBundle: false)
    }

    /// Permits removing a sidecar that has no bundle and that no row needs.
    package static func permitForSidecar(_ sha256: Digest, rows: Int, hasBundle: Bool) -> RemovalPermit? {
        rows == 0 && !hasBundle ? RemovalPermit(sha256: sha256, includesBundle: false) : nil
    }
}

/// The permission to unlink the files of one capture. Only `RetentionPolicy` can make one.
package struct RemovalPermit: Hashable, Sendable {
    package let sha256: Digest
    /// False for a reference: the bundle is the user's own file, so only the sidecar may be removed.
    package let includesBundle: Bool

    fileprivate init(sha256: Digest, includesBundle: Bool) {
        self.sha256 = sha256
        self.includesBundle = includesBundle
    }
}
