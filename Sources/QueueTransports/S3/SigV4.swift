import CaptureBundle
import CaptureNative
import CurlClient
import QueueModel

/// Signs a request to an S3-compatible store (AWS Signature Version 4, "Signing and authenticating REST requests").
///
/// libcurl's own signer (7.88) cannot sign paths that contain escapes, and only uses the clock of the machine.
struct SigV4 {
    let credentials: S3Credentials
    let region: String
    /// The time of the signature in Unix milliseconds.
    let now: Int

    /// Returns the request with the headers of the signature. A query must be escaped, and sorted by name.
    ///
    /// - Parameter contentHash: the SHA-256 of the body in hex.
    func signed(_ request: HTTPRequest, contentHash: String) throws(NativeError) -> HTTPRequest {
        let (day, moment) = Self.stamps(now)
        var request = request
        request.headers += [("x-amz-content-sha256", contentHash), ("x-amz-date", moment)]
        if let session = credentials.session { request.headers.append(("x-amz-security-token", session)) }
        // As libcurl sends it: without the default port of the scheme.
        var values = ["host": [request.address.origin.authority]]
        for header in request.headers where Self.isSigned(header.name) {
            // Headers with the same name are joined, and several spaces become one.
            let value = header.value.pieces(by: " ").joined(separator: " ")
            values[header.name.lowercased(), default: []].append(value)
        }
        let sorted = values.sorted { $0.key < $1.key }
        let lines = sorted.map { "\($0.key):\($0.value.joined(separator: ","))" }
        let names = sorted.map(\.key).joined(separator: ";")
        let canonical = [
            request.method.rawValue, Self.canonical(request.address.path), request.address.query ?? "",
            lines.joined(separator: "\n"), "", names, contentHash,
        ].joined(separator: "\n")
        let scope = "\(day)/\(region)/s3/aws4_request"
        let digest = Hex.encode(try SHA256Hasher.hash(Array(canonical.utf8)))
        let text = "AWS4-HMAC-SHA256\n\(moment)\n\(scope)\n\(digest)"
        let signature = Hex.encode(try HMACSHA256.code(of: Array(text.utf8), key: try key(day)))
        request.headers.append(
            (
                "Authorization",
                "AWS4-HMAC-SHA256 Credential=\(credentials.key)/\(scope), SignedHeaders=\(names), Signature=\(signature)"
            ))
        return request
    }

    private func key(_ day: String) throws(NativeError) -> [UInt8] {
        var key = Array("AWS4\(credentials.secret)".utf8)
        for part in [day, region, "s3", "aws4_request"] {
            key = try HMACSHA256.code(of: Array(part.utf8), key: key)
        }
        return key
    }

    private static func isSigned(_ name: String) -> Bool {
        let name = name.lowercased()
        return name.hasPrefix("x-amz-") || ["content-type", "if-none-match", "range"].contains(name)
    }

    /// Escapes each byte once, except unreserved characters and the slash.
    private static func canonical(_ path: String) -> String {
        URLTemplate.unescapedBytes(path).split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
            .map { URLTemplate.escaped(bytes: $0) }.joined(separator: "/")
    }

    /// Formats the time as `20130524` and `20130524T000000Z`.
    private static func stamps(_ now: Int) -> (day: String, moment: String) {
        let text = CaptureTime(milliseconds: now)?.description ?? "1970-01-01T00:00:00.000Z"
        let digits = text.utf8.prefix(19).filter { $0 != UInt8(ascii: "-") && $0 != UInt8(ascii: ":") }
        let moment = String(decoding: digits, as: UTF8.self) + "Z"
        return (moment.cut(to: 8), moment)
    }
}
