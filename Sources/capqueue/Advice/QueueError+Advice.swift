import CaptureBundle
import QueueModel

extension QueueError {
    /// What the user can do about the error: sentences with our commands and options, computed from its code, cause and
    /// subject.
    var advice: [String] { hints.map(\.sentence) }
}
