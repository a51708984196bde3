import CaptureBundle
import CommandSupport
import QueueModel
import QueueTransports

extension QueueEvent {
    /// The event as the JSON object of Spec/capqueue.md section 4.
    var json: JSONValue {
        .members([
            "event": .string(name.rawValue), "at": .text(at), "destination": .text(destination), "id": .text(id),
            "sha256": .text(sha256), "bytes": .count(bytes), "session": .text(session), "attempt": .count(attempt),
            "state": .text(state?.rawValue), "code": .text(code), "message": .text(message), "until": .text(until),
            "receipt": receipt.map { text in (try? JSONParser.parse(Array(text.utf8), nesting: 8)) ?? .string(text) },
            "remote_id": .text(remoteID), "remote_url": remoteURL.map { .string(URLTemplate($0).shown) },
            "milliseconds": .count(time?.milliseconds), "bytes_sent": .count(bytesSent),
            "completed": .count(completedCount),
            "failed": .count(failedCount),
        ])
    }
}
