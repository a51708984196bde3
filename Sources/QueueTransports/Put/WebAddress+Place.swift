package import CaptureBundle
package import CurlClient

extension WebAddress {
    private static let signingStarts = ["x-amz-", "x-goog-", "x-oss-"]
    private static let signingNames: Set<String> = [
        "awsaccesskeyid", "googleaccessid", "ossaccesskeyid", "signature", "expires", "security-token",
        "sig", "se", "st", "ske", "skt",
        "policy", "key-pair-id", "temp_url_sig", "temp_url_expires", "q-signature", "q-sign-time", "q-key-time",
        "token", "access_token",
    ]

    /// The place to which the URL leads: a hash that stays the same if the URL is signed again (Spec/upload.md section
    /// 4.3).
    package var place: Digest? {
        let kept = (query ?? "").pieces(by: "&").filter { pair in
            let name = URLTemplate.unescaped(pair.pieces(by: "=", limit: 2, keepsEmpty: true)[0]).lowercased()
            return !Self.signingNames.contains(name) && !Self.signingStarts.contains { name.hasPrefix($0) }
        }
        let text = origin.description + path + (kept.isEmpty ? "" : "?" + kept.joined(separator: "&"))
        return try? Digest.of(URLTemplate.unescapedBytes(text))
    }

    /// Whether the path contains one of the names.
    func names(_ names: [String]) -> Bool {
        let path = URLTemplate.unescaped(path).lowercased()
        return names.contains { path.contains($0.lowercased()) }
    }
}
