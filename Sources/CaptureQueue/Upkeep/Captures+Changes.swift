import GRDB
public import QueueModel

extension UploadQueue.Captures {
    /// How many captures one turn changes. The turn is short, so that other writers get theirs soon.
    private static let changesAtOnce = 2000

    /// Changes one capture.
    ///
    /// - Returns: the whole id of the capture.
    /// - Throws: `id.…`; `state.refused` if none of its deliveries allows the change; `bytes.absent` for a retry
    ///   without bytes.
    @discardableResult
    public func change(_ change: UserChange, _ id: String, _ options: ChangeOptions = ChangeOptions()) throws -> String
    {
        try queue.store.write(isDryRun: options.isDryRun) { db in
            let record = try db.capture(named: id)
            guard try apply(change, to: record, options, at: now(options, db), db) else {
                throw Self.refusal(change, record)
            }
            return record.id
        }
    }

    /// Changes all captures that the filter selects and that allow it, at most 2000 in a transaction.
    ///
    /// - Parameter deliver: gets the id of each changed capture, once the change is on the disk.
    /// - Returns: How many captures were left as they are because there are no bytes to send.
    @discardableResult
    public func change(
        _ change: UserChange, _ filter: CaptureFilter, _ options: ChangeOptions = ChangeOptions(),
        deliver: (String) throws -> Void
    ) throws -> Int {
        var withoutBytes = 0
        var filter = filter
        if filter.states.isEmpty { filter.states = change.candidates }
        var before = Int.max
        while true {
            let (records, changed) = try queue.store.write(isDryRun: options.isDryRun) { db in
                let records = try db.captures(filter, before: before, limit: Self.changesAtOnce)
                let now = try now(options, db)
                return (records, try records.filter { try apply(change, to: $0, options, at: now, db) })
            }
            for record in changed { try deliver(record.id) }
            withoutBytes += records.count { record in
                change.sends && !record.holding.hasBytes && !Self.inState(for: change, record, options).isEmpty
            }
            guard let last = records.last, records.count == Self.changesAtOnce else { return withoutBytes }
            before = last.sequence
        }
    }

    private func now(_ options: ChangeOptions, _ db: Database) throws -> QueueClock.Reading {
        try options.isDryRun ? queue.clock.read(db) : queue.clock.observe(db)
    }

    /// Returns the deliveries whose state allows the change.
    private static func inState(
        for change: UserChange, _ record: CaptureRecord, _ options: ChangeOptions
    ) -> [DeliveryRecord] {
        record.deliveries.filter { delivery in
            guard options.destination == nil || delivery.destination == options.destination else { return false }
            return DeliveryStateMachine.next(delivery.state, change.event) != nil
        }
    }

    /// - Returns: whether a delivery allows the change. Bytes that are not here cannot be sent.
    private func apply(
        _ change: UserChange, to record: CaptureRecord, _ options: ChangeOptions, at now: QueueClock.Reading,
        _ db: Database
    ) throws -> Bool {
        let deliveries = change.sends && !record.holding.hasBytes ? [] : Self.inState(for: change, record, options)
        guard !deliveries.isEmpty, !options.isDryRun else { return !deliveries.isEmpty }
        for delivery in deliveries {
            var details = Database.DeliveryChange(cause: "by the user")
            details.isOnlyDelivery = record.deliveries.count == 1
            if change.sends { details.due = try db.due(of: delivery, now) }
            // The retry table starts again. The delivery stays behind those that were not tried.
            if change == .retry { details.attempts = 0 }
            _ = try db.apply(change.event, to: delivery, at: now.recordTime, details)
        }
        return true
    }

    private static func refusal(_ change: UserChange, _ record: CaptureRecord) -> QueueError {
        if change.sends, !record.holding.hasBytes, record.state != .completed {
            return QueueError(
                .bytesAbsent, "its bytes are \(record.holdingWords)", of: record.id, cause: .gone)
        }
        return QueueError(
            .stateRefused, "is \(record.state.rawValue), a state that \(change.rawValue) does not change", of: record.id
        )
    }
}

extension UploadQueue.Captures {
    /// Records that a capture was sent by other means, such as curl or rclone. Its retention starts now.
    ///
    /// - Parameters:
    ///   - receipt: a text that contains the bundle's SHA-256. The whole text is stored.
    ///   - destination: needed if several deliveries are not completed.
    /// - Throws: `id.…`, `receipt.mismatch`, `state.refused`, `destination.unknown`.
    @discardableResult
    public func markUploaded(_ id: String, receipt: String, destination: String? = nil) throws -> CaptureRecord {
        guard receipt.utf8.count <= Receipt.sizeLimit else {
            throw QueueError(.receiptMismatch, "the receipt is longer than \(Receipt.sizeLimit) bytes", of: id)
        }
        return try queue.store.write { db in
            let record = try db.capture(named: id)
            guard Receipt.names(record.sha256, receipt) else {
                throw QueueError(
                    .receiptMismatch, "the receipt does not name this bundle; expected its SHA-256, \(record.sha256)",
                    of: record.id)
            }
            let delivery = try Self.delivery(of: record, to: destination, db)
            let now = try queue.clock.recordTime(db)
            guard
                try db.apply(
                    .record, to: delivery, at: now,
                    .init(cause: "receipt given by the user", completion: (now, receipt)))
            else {
                throw QueueError(.stateRefused, "is \(delivery.state.rawValue) already", of: record.id)
            }
            return try CaptureRecord.one(db, sequence: record.sequence) ?? record
        }
    }

    private static func delivery(of record: CaptureRecord, to name: String?, _ db: Database) throws -> DeliveryRecord {
        if let name {
            _ = try db.destination(name)
            guard let found = record.deliveries.first(where: { $0.destination == name }) else {
                throw QueueError(.stateRefused, "has no delivery to \(name)", of: record.id)
            }
            return found
        }
        let open = record.deliveries.filter { $0.state != .completed }
        if open.count > 1 {
            throw QueueError(
                .stateRefused, "has \(open.count) deliveries that are not completed", of: record.id,
                cause: .ambiguous)
        }
        guard let first = open.first ?? record.deliveries.first else {
            throw QueueError.corruptRecord("a capture has no deliveries")
        }
        return first
    }
}
