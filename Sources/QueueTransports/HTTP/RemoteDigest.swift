import CaptureBundle
import CaptureNative
import CurlClient
import QueueModel

/// Compares what an answer says of the bytes that a server has with those that were sent (Spec/upload.md section 4.3).
enum RemoteDigest {
    enum Verdict: Hashable {
        case agrees
        /// The header that disagrees.
        case differs(String)
        case untold
    }

    /// - Parameters:
    ///   - handle: of the file that was sent; read again only where the server tells nothing but an MD5, which
    ///     proves nothing where it is nil.
    ///   - isOfPut: the answer is that to the PUT itself, whose own content is another one.
    static func compare(
        _ answer: HTTPAnswer, _ handle: FileHandle?, sha256: Digest, isOfPut: Bool = false
    ) -> Verdict {
        let expected = Base64.encode(sha256.bytes)
        for name in ["Repr-Digest", "Content-Digest"] {
            // RFC 9530: `sha-256=:…:`, one of several.
            if let told = member("sha-256", of: answer[name.lowercased()]) {
                if told == ":\(expected):" { return .agrees }
                if !isOfPut || name == "Repr-Digest" { return .differs(name) }
            }
        }
        // RFC 3230.
        if let told = member("sha-256", of: answer["digest"]) { return told == expected ? .agrees : .differs("Digest") }
        if let told = answer["x-amz-checksum-sha256"], !told.contains("-") {
            return told == expected ? .agrees : .differs("x-amz-checksum-sha256")
        }
        // An ETag that looks like an MD5 need not be one (Nextcloud's, or that of an encrypted object): it only proves.
        guard let told = answer["etag"].flatMap(md5), let handle, let ours = try? MD5.hash(handle),
            told == Hex.encode(ours)
        else { return .untold }
        return .agrees
    }

    private static func member(_ name: String, of header: String?) -> String? {
        for part in (header ?? "").pieces(by: ",") {
            let pair = part.pieces(by: "=", limit: 2)
            guard pair.count == 2 else { continue }
            if pair[0].trimmed.lowercased() == name { return pair[1] }
        }
        return nil
    }

    /// The digits of an ETag that may be an MD5.
    private static func md5(_ etag: String) -> String? {
        guard etag.hasPrefix("\""), etag.hasSuffix("\""), etag.utf8.count == 34 else { return nil }
        let digits = etag.without(first: 1, last: 1).lowercased()
        return Hex.decode(digits) == nil ? nil : digits
    }
}
