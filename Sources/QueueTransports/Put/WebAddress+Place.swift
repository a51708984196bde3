package import CaptureBundle
package import CurlClient
import QueueModel

extension WebAddress {
    /// The place to which the URL leads: a hash of its origin and path. A server may ignore the query, and it differs
    /// when the URL is signed again (Spec/upload.md section 4.3).
    package var place: Digest? { try? Digest.of(URLTemplate.unescapedBytes(origin.description + path)) }

    /// Whether the path contains one of the names.
    func names(_ names: [String]) -> Bool {
        let path = URLTemplate.unescaped(path).lowercased()
        return names.contains { path.contains($0.lowercased()) }
    }
}
