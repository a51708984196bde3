import CurlClient
import QueueModel

/// Parses headers in the form `Name: value`, one on each line.
enum HeaderLines {
    /// Whether the header frames the request or is made for it, so that only capqueue may set it.
    static func isOurs(_ name: String) -> Bool {
        [
            "connection", "content-length", "content-range", "expect", "host", "idempotency-key", "keep-alive",
            "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
        ].contains(name.lowercased())
    }

    /// - Returns: nil if one of the headers cannot be sent.
    static func parse(_ text: String) -> [HTTPRequest.Header]? {
        let headers = text.pieces(by: "\n", keepsEmpty: true).map(header)
        return headers.contains(nil) ? nil : headers.compactMap(\.self)
    }

    private static func header(_ line: String) -> HTTPRequest.Header? {
        let parts = line.pieces(by: ":", limit: 2, keepsEmpty: true)
        guard parts.count == 2, !parts[0].isEmpty else { return nil }
        let name = parts[0]
        let value = String(decoding: parts[1].utf8.drop { $0 == 0x20 }, as: UTF8.self)
        let isToken = name.utf8.allSatisfy { byte in
            byte > 0x20 && byte < 0x7f && !"()<>@,;:\\\"/[]?={}".utf8.contains(byte)
        }
        guard isToken, !value.isEmpty, value.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7f }) else { return nil }
        return HTTPRequest.Header(name, value)
    }

    /// Returns the names only, because a value can be a secret.
    static func shown(_ text: String) -> String {
        text.pieces(by: "\n").compactMap { header($0).map { "\($0.name): …" } }.joined(separator: ", ")
    }
}
