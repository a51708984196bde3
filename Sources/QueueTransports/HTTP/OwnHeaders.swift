import CaptureBundle
import CurlClient
import QueueModel

extension HTTPRequest {
    /// Adds headers of the user. A Content-Type of the user replaces ours.
    mutating func add(_ own: [Header]) {
        if own.contains(where: { $0.name.lowercased() == "content-type" }) {
            headers.removeAll { $0.name.lowercased() == "content-type" }
        }
        headers += own
    }

    mutating func add(_ signature: RequestSignature) { headers += signature.headers.map { Header($0.name, $0.value) } }
}
