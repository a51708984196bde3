import CaptureBundle
import CurlClient
import QueueModel

/// The code and the text of an answer.
struct AnswerWords {
    let code: String?
    /// Whether the body is a page for people, whatever its type says. The answer to HEAD has no body, so its type counts.
    let isPage: Bool
    /// The text for a message, ` (CODE: message)`, or an empty string.
    let detail: String
    let json: JSONValue?

    /// Whether the server speaks of a certificate.
    var isOfCertificate: Bool { detail.lowercased().contains("certificate") }

    /// - Parameter secrets: secrets of the request, which an answer may repeat.
    init(_ answer: HTTPAnswer, hiding secrets: [String] = [], isOfHead: Bool = false) {
        let type = answer["content-type"]?.lowercased() ?? ""
        isPage = isOfHead ? Self.types.contains { type.hasPrefix($0) } : Self.isPage(answer.body)
        json = answer.isCut ? nil : try? JSONParser.parse(answer.body, nesting: 32)
        let fault = json?["error"]
        var code = fault?["code"]?.text
        var text =
            fault?["message"]?.text ?? json?["detail"]?.text ?? json?["description"]?.text ?? json?["title"]?.text
        if isPage {
            text = Self.title(answer.body)
        } else if json == nil, type.contains("xml") || answer.body.starts(with: Array("<?xml".utf8)) {
            let body = String(decoding: answer.body.prefix(4096), as: UTF8.self)
            code = Self.element("Code", body)
            text = Self.element("Message", body)
        } else if json == nil, !answer.isUnreadable, type.hasPrefix("text/plain") || type.isEmpty {
            text = String(decoding: answer.body.prefix(8192), as: UTF8.self)
        }
        // The code decides what happens, so it is kept unchanged; secrets are only removed from the text that is shown.
        self.code = code.map { Self.plain($0, 64) }
        let parts = [
            code.map { Self.shown($0, hiding: secrets, limit: 64) },
            text.map { Self.shown($0, hiding: secrets, limit: 200) },
        ].compactMap(\.self)
            .filter { !$0.isEmpty }
        detail = parts.isEmpty ? "" : " (\(parts.joined(separator: ": ")))"
    }

    /// Whether bytes begin like HTML.
    static func isPage(_ bytes: [UInt8]) -> Bool {
        let start = String(decoding: bytes.prefix(1024), as: UTF8.self).lowercased()
        let text = (start.rest(after: "\u{feff}") ?? start).trimmed
        guard text.hasPrefix("<") else { return false }
        if ["<html", "<!doctype html"].contains(where: { text.pieces(around: $0).count > 1 }) { return true }
        let name = text.utf8.dropFirst().prefix { ![0x09, 0x0a, 0x0c, 0x0d, 0x20, 0x3e].contains($0) }
        return firstElements.contains(String(decoding: name, as: UTF8.self))
    }

    /// The types of pages.
    private static let types = ["text/html", "application/xhtml+xml"]

    /// The elements with which a page begins that lacks `html`, as those do that only lead on to a login (WHATWG MIME
    /// Sniffing section 7.1, and `meta` and `center`). Without `b` and `br`, with which a warning of PHP begins.
    private static let firstElements: Set = [
        "a", "body", "center", "div", "font", "h1", "head", "iframe", "meta", "p", "script", "style",
        "table", "title",
    ]

    /// The title of a page.
    static func title(_ page: [UInt8]) -> String? {
        let text = String(decoding: page.prefix(8192), as: UTF8.self)
        return element("title", text) ?? element("TITLE", text)
    }

    static func shown(_ text: String, hiding secrets: [String], limit: Int) -> String {
        plain(without(text, secrets), limit)
    }

    private static func without(_ text: String, _ secrets: [String]) -> String {
        secrets.reduce(text) { text, secret in
            text.split(separator: secret, omittingEmptySubsequences: false).joined(separator: "…")
        }
    }

    /// Puts the text on one line, cut to the length limit of a message.
    private static func plain(_ text: String, _ limit: Int) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { $0.value < 0x20 ? " " : $0 }).prefix(limit))
    }

    static func element(_ name: String, _ text: String) -> String? { elements(name, text).first }

    /// The texts of all XML elements of this name that hold only text.
    static func elements(_ name: String, _ text: String) -> [String] {
        text.pieces(around: "<\(name)>").dropFirst().map { rest in
            // `&amp;` is last, so that nothing is decoded twice.
            [
                ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&#39;", "'"), ("&#34;", "\""),
                ("&amp;", "&"),
            ]
            .reduce(rest.pieces(by: "<", limit: 2, keepsEmpty: true)[0]) {
                $0.pieces(around: $1.0).joined(separator: $1.1)
            }
        }
    }
}

extension String {
    /// Whether the text has only ASCII letters, digits and characters of `others`.
    func hasOnlyLettersDigits(or others: String) -> Bool {
        utf8.allSatisfy { byte in
            UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
                || others.utf8.contains(byte)
        }
    }
}

extension HTTPAnswer {
    /// What nginx, Go, Apache and Tomcat say to a request over http on a port of https.
    static let wordsAboutTLS = [
        "plain HTTP request was sent to HTTPS port", "HTTP request to an HTTPS server",
        "plain HTTP to an SSL-enabled server port", "combination of host and port requires TLS",
    ]

    /// The server's clock minus ours in milliseconds, by the header Date; nil if it cannot be read.
    func clockOffset(now: Int) -> Int? { self["date"].flatMap { HTTPDate.milliseconds($0, now: now) }.map { $0 - now } }

    /// Whether the first 8192 bytes of the body name a header.
    func names(_ header: String) -> Bool {
        String(decoding: body.prefix(8192), as: UTF8.self).lowercased().contains(header.lowercased())
    }
}

extension HTTPRequest {
    private static let harmless: Set<String> = [
        "accept", "content-type", "idempotency-key", "if-none-match", "x-device-id", "x-device-timestamp",
        "x-request-id",
    ]

    /// The texts that no message may show: the query, as it is and decoded, the values of headers, and a secret path.
    func secrets(hidesPath: Bool) -> [String] {
        let pairs = (address.query ?? "").pieces(by: "&").flatMap { pair in [pair] + pair.pieces(by: "=", limit: 2) }
        let query = ([address.query].compactMap(\.self) + pairs).flatMap { [$0, URLTemplate.unescaped($0)] }
        let values = headers.filter { !Self.harmless.contains($0.name.lowercased()) }.flatMap { header in
            [header.value] + header.value.pieces(by: " ")
        }
        let path = hidesPath ? [address.path] + address.path.pieces(by: "/") : []
        let all = query + values + path + path.map(URLTemplate.unescaped)
        // The longest comes first, because a shorter secret may be a part of it.
        return all.filter { $0.utf8.count >= 4 }.sorted { $1.utf8.count < $0.utf8.count }
    }
}
