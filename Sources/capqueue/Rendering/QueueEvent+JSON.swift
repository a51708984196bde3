import CaptureBundle
import QueueModel
import QueueTransports

extension QueueEvent {
    /// The event as the JSON object of Spec/capqueue.md section 4.
    var json: JSONValue {
        func time(_ milliseconds: Int?) -> JSONValue? {
            milliseconds.flatMap { CaptureTime(milliseconds: $0) }.map { .string($0.description) }
        }
        return .members([
            "event": .string(name.rawValue), "at": time(at), "destination": destination.map { .string($0) },
            "id": id.map { .string($0) }, "sha256": sha256.map { .string($0.description) },
            "bytes": bytes.map { .integer($0) }, "session": session.map { .string($0) },
            "attempt": attempt.map { .integer($0) }, "state": state.map { .string($0.rawValue) },
            "code": code.map { .string($0) }, "message": message.map { .string($0) }, "until": time(until),
            "receipt": receipt.map { text in (try? JSONParser.parse(Array(text.utf8), nesting: 8)) ?? .string(text) },
            "remote_id": remoteID.map { .string($0) }, "remote_url": remoteURL.map { .string(URLTemplate($0).shown) },
            "milliseconds": milliseconds.map { .integer($0) }, "bytes_sent": bytesSent.map { .integer($0) },
            "completed": completedCount.map { .integer($0) }, "failed": failedCount.map { .integer($0) },
        ])
    }
}
