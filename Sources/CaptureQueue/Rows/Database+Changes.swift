import CaptureBundle
import Foundation
import GRDB
import QueueFiles
import QueueModel

/// Changes the states of deliveries. Each change is recorded with its time and its cause, in the same transaction.
extension Database {
    /// The values that change together with the state of a delivery.
    struct DeliveryChange {
        var cause: String?
        var due: Int?
        /// Sets `due` and how long the user wants it to wait.
        var start: DeliveryStart?
        var attempts: Int?
        /// The token of the new claim; nil removes the claim.
        var token: [UInt8]?
        var completion: (at: Int, receipt: String)?
        var remoteID: String?
        var remoteURL: String?
        var failure: (code: String, message: String)?
        /// nil keeps the stored value, except that what interrupts a try leaves doubt.
        var isInDoubt: Bool?
        var polls: Int?
        /// The idempotency key of this claim; nil keeps the stored one, unless `forgetsKey` is set.
        var idempotencyKey: String?
        /// Whether the next try gets a key of its own.
        var forgetsKey = false
        /// When a try ended; nil keeps the stored value.
        var triedAt: Int?
        /// Whether the capture has no other delivery.
        var isOnlyDelivery = false
    }

    /// Applies an event to a delivery and updates the overall state of its capture.
    ///
    /// - Returns: false if the table of states refuses the event; then nothing is changed.
    func apply(
        _ event: DeliveryEvent, to delivery: DeliveryRecord, at now: Int, _ change: DeliveryChange = DeliveryChange()
    ) throws -> Bool {
        guard let next = DeliveryStateMachine.next(delivery.state, event) else { return false }
        // A receipt stays when the capture is sent again, until another one replaces it or the server loses the bytes.
        let receipt = change.completion?.receipt ?? (event == .lose ? nil : delivery.receipt)
        let isInterrupted = change.isInDoubt == nil && DeliveryStateMachine.interrupts(delivery.state, event)
        try update(delivery, to: next, receipt: receipt, change, isInterrupted: isInterrupted)
        if let start = change.start {
            try run(
                "UPDATE deliveries SET due = ?, not_before = ?, span_until = ? WHERE id = ?",
                [start.due, start.notBefore, start.spanUntil, delivery.number])
        }
        // The user asked to send it, so its lifetime begins again.
        if [.retry, .resend, .push].contains(event) {
            try run("UPDATE deliveries SET elapsed_from = \(Self.elapsed) WHERE id = ?", [delivery.number])
        }
        if DeliveryState.waiting.contains(next) && !DeliveryState.waiting.contains(delivery.state) {
            let wait = "UPDATE deliveries SET waits_from = max(?, coalesce(not_before, 0)) WHERE id = ?"
            try run(wait, [now, delivery.number])
        }
        try record(delivery.number, from: delivery.state, to: next, event, cause: change.cause, at: now)
        guard next != delivery.state else { return true }
        if change.isOnlyDelivery && next != .completed {
            try setState(next, finishedAt: nil, isPartsOnly: false, ofCapture: delivery.capture)
        } else {
            try refreshState(ofCapture: delivery.capture)
        }
        return true
    }

    /// What has elapsed until now, to the second.
    private static let elapsed = "coalesce((SELECT elapsed FROM clock), 0)"

    /// If the doubt is new, the token of the claim that was interrupted stays until that claim is settled or the next one
    /// is made (Spec/queue.md section 6).
    private func update(
        _ delivery: DeliveryRecord, to next: DeliveryState, receipt: String?, _ change: DeliveryChange,
        isInterrupted: Bool
    ) throws {
        let isWaiting = delivery.state != .uploading && change.token == nil && next != .completed
        let keepsToken = isWaiting || isInterrupted && !delivery.isInDoubt
        let key = change.forgetsKey ? nil : change.idempotencyKey ?? delivery.idempotencyKey
        try run(
            """
            UPDATE deliveries SET state = ?, due = ?, attempts = ?, token = iif(?, token, ?), completed_at = ?,
                receipt = ?, part = ?, remote_id = ?, remote_url = ?, error_code = ?, error_message = ?, in_doubt = ?,
                polls = ?, idempotency_key = ?, tried_at = coalesce(?, tried_at),
                place_status = iif(?, NULL, place_status) WHERE id = ?
            """,
            [
                next.rawValue, change.due ?? delivery.dueAt.milliseconds, change.attempts ?? delivery.attempts,
                keepsToken, change.token.map { Data($0) }, change.completion?.at, receipt,
                receipt.flatMap { Receipt.part(in: $0) },
                change.remoteID ?? delivery.remoteID,
                change.remoteURL ?? delivery.remoteURL, change.failure?.code, change.failure?.message,
                change.isInDoubt ?? (delivery.isInDoubt || isInterrupted) ? 1 : 0, change.polls ?? delivery.polls,
                key, change.triedAt, next == .completed,
                delivery.number,
            ])
    }

    func record(
        _ delivery: Int, from: DeliveryState?, to: DeliveryState, _ event: DeliveryEvent, cause: String?, at now: Int
    ) throws {
        try run(
            "INSERT INTO transitions (delivery, at, from_state, to_state, event, cause) VALUES (?, ?, ?, ?, ?, ?)",
            [delivery, now, from?.rawValue, to.rawValue, event.rawValue, cause])
    }

    /// Computes the overall state from the deliveries.
    func refreshState(ofCapture sequence: Int) throws {
        let all = try mapped("SELECT state, completed_at, part FROM deliveries WHERE capture = ?", [sequence]) {
            (state: try $0.state("state"), at: try $0.integer("completed_at"), part: try $0.text("part"))
        }
        let overall = DeliveryState.overall(all.map(\.state))
        let landed = overall == .completed ? all.filter { $0.state == .completed } : []
        try setState(
            overall, finishedAt: landed.compactMap(\.at).max(),
            isPartsOnly: !landed.isEmpty && landed.allSatisfy { $0.part != nil }, ofCapture: sequence)
    }

    private func setState(
        _ state: DeliveryState, finishedAt: Int?, isPartsOnly: Bool, ofCapture sequence: Int
    ) throws {
        try run(
            "UPDATE captures SET state = ?, finished_at = ?, parts_only = ? WHERE seq = ?",
            [state.rawValue, finishedAt, isPartsOnly, sequence])
    }

    /// Records where the bytes of a capture are now.
    func setHolding(_ holding: Holding, ofCapture sequence: Int) throws {
        try run("UPDATE captures SET holding = ?, removed_at = NULL WHERE seq = ?", [holding.rawValue, sequence])
    }

    /// Inserts a new capture with one delivery to each given destination, or else one to the default destination.
    ///
    /// The row number is higher than that of the order, so that each later push has a later order, also if this is another
    /// database than that of the push.
    ///
    /// - Returns: the row number.
    @discardableResult
    func insertCapture(
        _ row: CaptureRow, destinations: [Int], start: DeliveryStart, at now: Int, state: DeliveryState = .pending,
        cause: String? = nil, tag: BytesTag? = nil, body: BodyHash? = nil
    ) throws -> Int {
        let facts = row.facts
        let sequence = max(try lastRow(), row.order?.after ?? 0) + 1
        try run(
            """
            INSERT INTO captures (seq, id, identity, sha256, manifest_sha256, bytes, captured_at, device, verdict, pushed_at,
                session, priority, not_before, holding, reference, state, stored_at, photo, tag, body_sha256, body_form,
                order_after, order_position)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                sequence, row.id, facts.identity.data, facts.sha256.data, facts.manifestSHA256.data, facts.byteCount,
                facts.capturedAt.milliseconds, facts.device.data, facts.verdict.word, row.pushedAt, row.session,
                row.priority, start.notBefore, row.holding.rawValue, row.reference, state.rawValue, now,
                facts.photo?.data, tag.map { Data($0.bytes) }, body?.sha256.data, body?.form, row.order?.after,
                row.order?.position ?? 0,
            ])
        for destination in destinations.isEmpty ? [try defaultDestination()] : destinations.map(Optional.some) {
            try addDelivery(
                ofCapture: sequence, to: destination, priority: row.priority, start: start, at: now, cause: cause,
                state: state)
        }
        return sequence
    }

    /// How many captures with these bytes fulfil a condition.
    func captures(of sha256: Digest, where condition: String = "1") throws -> Int {
        try integer("SELECT count(*) FROM captures WHERE sha256 = ? AND \(condition)", [sha256.data]) ?? 0
    }

    /// The highest row number of a capture.
    func lastRow() throws -> Int { try integer("SELECT max(seq) FROM captures") ?? 0 }

    /// Inserts a new delivery of a capture.
    ///
    /// - Parameter destination: nil only if the queue has no destination that takes captures.
    func addDelivery(
        ofCapture sequence: Int, to destination: Int?, priority: Int, start: DeliveryStart, at now: Int, cause: String?,
        state: DeliveryState = .pending
    ) throws {
        try run(
            """
            INSERT INTO deliveries (capture, destination, state, priority, due, not_before, span_until, waits_from,
                elapsed_from, session, order_after, order_position)
            SELECT seq, ?, ?, ?, ?, ?, ?, ?, \(Self.elapsed), session, order_after, order_position FROM captures WHERE seq = ?
            """,
            [
                destination, state.rawValue, priority, start.due, start.notBefore, start.spanUntil,
                max(now, start.notBefore ?? now), sequence,
            ])
        try record(Int(lastInsertedRowID), from: nil, to: state, .push, cause: cause, at: now)
    }
}

/// A capture that has no row yet.
struct CaptureRow {
    let id: String
    let facts: CaptureFacts
    let pushedAt: Int
    let session: Int?
    let priority: Int
    let holding: Holding
    let reference: String?
    var order: PushOrder?
}
