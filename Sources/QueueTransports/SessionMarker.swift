import CurlClient
import QueueModel

/// The notification of one destination that a session has ended (Spec/queue.md section 9).
package struct SessionMarker {
    package let session: String
    package let sessionNumber: Int
    package let destination: Int
    /// The idempotency key. It stays the same for all attempts, so that a server can ignore repetitions.
    package let key: String
    package let attempts: Int
    package let body: [UInt8]

    package init(session: String, sessionNumber: Int, destination: Int, key: String, attempts: Int, body: [UInt8]) {
        self.session = session
        self.sessionNumber = sessionNumber
        self.destination = destination
        self.key = key
        self.attempts = attempts
        self.body = body
    }

    func address(_ template: URLTemplate) -> WebAddress? {
        WebAddress(template.filled { $0 == "session" ? URLTemplate.escaped(session) : "{\($0)}" })
    }
}
