package import CaptureBundle
import CaptureNative
package import CurlClient
package import QueueModel

/// The URL to which one capture is put.
struct PutPlace {
    let address: WebAddress
    var headers: HTTPHeaders = []
    /// Whether the URL came from a command or an endpoint, so that it can be fetched again.
    var isFetched = false

    /// Whether the URL itself gives access. Such a URL is neither shown nor stored.
    var isSigned: Bool {
        isFetched || Self.lifeEnd(address) != nil || address.query?.contains("ignature=") ?? false
    }

    func isOver(at now: Int) -> Bool { Self.lifeEnd(address).map { $0 <= now } ?? false }

    /// When the URL expires, in Unix milliseconds; nil if the URL does not say so.
    static func lifeEnd(_ address: WebAddress) -> Int? {
        var values: [String: String] = [:]
        for pair in (address.query ?? "").pieces(by: "&") {
            let parts = pair.pieces(by: "=", limit: 2)
            if parts.count == 2 { values[parts[0].lowercased()] = parts[1] }
        }
        if let date = values["x-amz-date"], let life = values["x-amz-expires"].flatMap({ WholeNumber.parse($0) }),
            life <= 1 << 30, let start = basic(date)
        {
            return start + life * 1000
        }
        return values["expires"].flatMap { WholeNumber.parse($0) }.flatMap { $0 < 1 << 40 ? $0 * 1000 : nil }
    }

    /// Parses a time such as `20260314T150000Z`.
    private static func basic(_ text: String) -> Int? {
        let digits = Array(text.utf8)
        guard digits.count == 16 else { return nil }
        let part = { (range: Range<Int>) in String(decoding: digits[range], as: UTF8.self) }
        let date = "\(part(0..<4))-\(part(4..<6))-\(part(6..<8))"
        return CaptureTime("\(date)T\(part(9..<11)):\(part(11..<13)):\(part(13..<15))Z")?.milliseconds
    }
}

extension Destination {
    /// The place to which the bundle of a capture goes; nil if that is known only when it is sent, as for a fetched URL.
    package func knownPlace(of capture: CaptureRecord) -> Digest? {
        guard case .put(let put) = settings, put.part == .bundle, case .url(let template) = put.source else {
            return nil
        }
        return template.address(of: capture)?.place
    }
}

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
