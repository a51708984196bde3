import QueueModel
import SystemPackage

/// The result of an attempt, after it was stored.
struct AttemptResult {
    let state: DeliveryState
    /// When the next try is due; nil if there is none.
    let dueAt: Int?
    /// The folder that is absent with the bytes; nil if the bytes were there.
    var absent: FilePath?
    /// Captures that were refused for good and now wait again, because the destination refuses everything.
    var takenBack: [CaptureRecord] = []
}

/// The circumstances under which the result of an attempt is stored.
///
/// A run reads them when it has the turn to write, because its threads get their turns in any order.
struct AttemptContext {
    var retry = RetryPolicy.standard
    /// When it began, as a stamp; nil if it began when it was claimed.
    var startedAt: Int?
    var bytesSent: Int?
    var stopCode: String?
    /// The time of a run; nil for the clocks of the queue.
    var time: RunTime?
    /// The consequences of the try for the destination.
    var verdict = DestinationState.Verdict()
    /// What it says if the server refused.
    var refusal = DestinationState.Refusal.ofDestination
    /// Whether the refusal no longer counts.
    var isTakenBack = false
    /// The state of the destination that must be stored; nil if it has not changed.
    var unsaved: DestinationState.Saved?
}
