package import CaptureBundle

/// A delivery that this run may send. Only the holder of the claim can store the result.
package struct Claim: Hashable, Sendable {
    package let capture: CaptureRecord
    package let delivery: DeliveryRecord
    package let destination: Destination
    /// 128 bits that only the holder of the claim knows: the number of the run, and a random value.
    package let token: [UInt8]
    package var attempt: Int { delivery.attempts }
    /// The place that was taken for the bytes when they were claimed; nil if it is known only when they are sent.
    package let place: TakenPlace?

    package init(
        capture: CaptureRecord, delivery: DeliveryRecord, destination: Destination, token: [UInt8], place: TakenPlace?
    ) {
        (self.capture, self.delivery, self.destination) = (capture, delivery, destination)
        (self.token, self.place) = (token, place)
    }
}

/// A place, the hash of the bytes for it, and whether they may be sent there.
package struct TakenPlace: Hashable, Sendable {
    package let place: Digest
    package let sha256: Digest
    package let turn: PlaceTurn

    package init(place: Digest, sha256: Digest, turn: PlaceTurn) {
        (self.place, self.sha256, self.turn) = (place, sha256, turn)
    }
}

/// Whether a delivery may send its bytes to a place.
package enum PlaceTurn: Hashable, Sendable {
    /// In place of a status: the answer had the digest of other bytes.
    package static let doubted = 0
    /// The server refused the bytes and has nothing there, as if the folder were missing. No server accepts with 409.
    package static let nowhere = 409

    /// - Parameters:
    ///   - acceptedWith: the status of an earlier try in which the server accepted these bytes without a proof.
    ///   - wasTried: whether an earlier try of the delivery may have sent bytes there.
    case ours(acceptedWith: Int?, wasTried: Bool)
    /// The place belongs to other bytes: those of the capture with this id. It can be the same capture, if another
    /// destination has another part of it.
    case taken(by: String)
    /// The place cannot be recorded, for this reason.
    case unknown(String)
}

/// The circumstances under which the result of an attempt is stored.
///
/// A run reads them when it has the turn to write, because its threads get their turns in any order.
package struct AttemptContext: Sendable {
    package var retry = RetryPolicy.standard
    /// When it began, as a time for records; nil if it began when it was claimed.
    package var startedAt: Int?
    package var bytesSent: Int?
    package var stopCode: String?
    /// The time of a run; nil for the clocks of the queue.
    package var time: RunTime?
    /// The consequences of the try for the destination.
    package var verdict = CircuitBreaker.Verdict()
    /// What it says if the server refused.
    package var refusal = CircuitBreaker.Refusal.ofDestination
    /// Whether the refusal no longer counts.
    package var isTakenBack = false
    /// The state of the destination that must be stored; nil if it has not changed.
    package var unsaved: CircuitBreaker.Saved?

    package init(retry: RetryPolicy = .standard, startedAt: Int? = nil, verdict: CircuitBreaker.Verdict = .init()) {
        (self.retry, self.startedAt, self.verdict) = (retry, startedAt, verdict)
    }
}
