import CurlClient
import QueueModel

extension HTTPRequest {
    /// Adds headers of the user's; of Content-Type there is one.
    mutating func add(_ own: [Header]) {
        if own.contains(where: { $0.name.lowercased() == "content-type" }) {
            headers.removeAll { $0.name.lowercased() == "content-type" }
        }
        headers += own
    }
}
