import CurlClient
import QueueModel

/// A session's end, as one destination is told of it (Spec/queue.md section 9).
package struct SessionMarker {
    package let session: String
    package let sessionNumber: Int
    package let destination: Int
    /// Kept over attempts: a server that honours it takes the end once.
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
        let parts = template.text.split(separator: "{session}", omittingEmptySubsequences: false)
        return WebAddress(parts.joined(separator: URLTemplate.escaped(session)))
    }
}
