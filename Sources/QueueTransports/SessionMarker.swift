package import CurlClient

/// A session's end, as one destination is told of it (Spec/queue.md section 9).
package struct SessionMarker {
    let session: String
    let sessionNumber: Int
    let destination: Int
    /// Kept over attempts: a server that honours it takes the end once.
    let key: String
    let attempts: Int
    let body: [UInt8]

    func address(_ template: String) -> WebAddress? {
        let parts = template.split(separator: "{session}", omittingEmptySubsequences: false)
        return WebAddress(parts.joined(separator: URLTemplate.escaped(session)))
    }
}
