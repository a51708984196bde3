import CaptureBundle
import CaptureNative
import CurlClient
public import QueueModel
import SystemPackage

/// Says which settings a kind of destination takes, and what they may be (Spec/queue.md section 12).
package enum DestinationSettings {
    private static let pace: Set<String> = ["concurrency", "bwlimit", "retry", "jitter", "lifetime"]
    private static let connection: Set<String> = pace.union([
        "url", "ca", "cert", "cert-key", "proxy", "header", "connect-timeout", "stall-timeout", "answer-timeout",
        "secret-path",
    ])
    private static let token: Set<String> = ["token-file", "token-command"]
    private static let files: Set<String> = ["key", "passphrase-file", "token-file", "ca", "cert", "cert-key"]

    static func names(_ kind: Destination.Kind) -> Set<String> {
        switch kind {
        case .folder: pace.union(["path", "marker"])
        case .http:
            connection.union(token).union(["verify-url", "key", "device-id", "passphrase-file"])
        case .put: connection.union(token).union(["url-command", "url-endpoint", "part", "proof", "session-end-url"])
        case .s3: connection.union(["region", "profile", "checksum", "condition"])
        }
    }

    /// - Returns: the settings, with paths made absolute.
    /// - Throws: `destination.settings`.
    package static func examined(
        _ settings: [String: String], _ kind: Destination.Kind, of name: String
    ) throws(QueueError) -> [String: String] {
        func fail(_ message: String) -> QueueError { QueueError(.destinationSettings, message, of: name) }
        for (key, value) in settings {
            guard names(kind).contains(key) else { throw fail("\(kind.rawValue) has no setting \(key)") }
            guard !value.isEmpty else { throw fail("\(key) is empty") }
        }
        var settings = settings
        for key in files.sorted() {
            guard let path = settings[key].map({ FilePath($0).absolute }) else { continue }
            guard let text = String(validating: path) else { throw fail("\(key): the name of its folder is not UTF-8") }
            settings[key] = text
            do throws(NativeError) { _ = try FileHandle.reading(path) } catch {
                throw fail("\(key): \(path) cannot be read: \(error.text)")
            }
        }
        for key in ["url", "verify-url", "url-endpoint", "session-end-url"] {
            guard let text = settings[key], !(key == "verify-url" && text == "none") else { continue }
            if let fault = fault(ofURL: text) { throw fail("\(key): \(fault)") }
        }
        if let fault = fault(ofNumbers: settings) ?? fault(of: settings, kind) { throw fail(fault) }
        if kind == .put, let url = settings["url"], !URLTemplate(url).tellsCapturesApart {
            throw QueueError(
                .destinationSettings, urlWithoutHash, of: name,
                hints: ["add {sha256} to it, for example {id}-{sha256}.bundle"])
        }
        return settings
    }

    static let urlWithoutHash =
        "the URL has no {sha256}: several captures can have one id, and the later would take the place of the earlier"

    private static func fault(ofURL text: String) -> String? {
        guard let address = WebAddress(URLTemplate(text).example) else {
            return CurlLibraryState.isThere
                ? "expected an absolute URL of http or https" : "libcurl.so.4 is not on this machine"
        }
        if text.contains("#") { return "a fragment (#) is sent to nobody; leave it out" }
        if address.hasUser { return "user and password do not belong in a URL, which is shown; use a token file" }
        return URLTemplate(text).unknown.map { "{\($0)} means nothing; there are {sha256}, {id} and {session}" }
    }

    private static func fault(ofNumbers settings: [String: String]) -> String? {
        if let text = settings["concurrency"], !(1...64).contains(WholeNumber.parse(text) ?? 0) {
            return "concurrency is 1 to 64"
        }
        if let text = settings["bwlimit"], (ByteSize.bytes(text) ?? 0) < 1 { return "bwlimit is a size, such as 2MB" }
        if let text = settings["retry"], RetryPolicy(text: text) == nil {
            return "retry is a list of seconds, such as 0,1,2,4,8,300x5: 1 to 100, each at most 604800"
        }
        if let text = settings["jitter"], Percentage.parse(text) == nil { return "jitter is 0% to 100%" }
        if let text = settings["lifetime"], QueueAge(text) == nil { return "lifetime is an age, such as 30d" }
        for name in ["connect-timeout", "stall-timeout", "answer-timeout"] {
            guard let text = settings[name] else { continue }
            if (QueueAge(text)?.milliseconds ?? 0) < 1000 { return "\(name) is an age of 1s or more" }
        }
        for name in ["secret-path", "condition"] {
            if let text = settings[name], text != "yes", text != "no" { return "\(name) is yes or no" }
        }
        for line in settings["header"].map(HeaderLines.parse) ?? [] where line == nil {
            return "header: expected Name: value, of printable ASCII"
        }
        let names = settings["header"].map(HeaderLines.parse)?.compactMap { $0?.name.lowercased() } ?? []
        if let name = names.first(where: HeaderLines.isOurs) { return "header: \(name) is made by capqueue itself" }
        if let text = settings["proxy"], !Self.isProxy(text) {
            return "proxy is a URL of http, https, socks4, socks4a, socks5 or socks5h, or host:port"
        }
        return nil
    }

    private static func isProxy(_ text: String) -> Bool {
        let parts = text.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
        let schemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]
        if parts.count == 2, !schemes.contains(parts[0].lowercased()) { return false }
        return WebAddress("http://\(parts[parts.count - 1])") != nil
    }

    private static func fault(of settings: [String: String], _ kind: Destination.Kind) -> String? {
        switch kind {
        case .folder: return settings["path"] == nil ? "folder needs --path" : nil
        case .http:
            if settings["url"] == nil { return "http needs --url" }
            if let id = settings["device-id"], !RequestSignature.isDeviceID(id) { return "device-id is no UUID" }
            if (settings["key"] != nil || settings["passphrase-file"] != nil) && settings["device-id"] == nil {
                return "a key needs --device-id, the UUID that the server gave the device"
            }
        case .put:
            let sources = ["url", "url-command", "url-endpoint"].filter { settings[$0] != nil }
            if sources.count != 1 { return "put needs one of --url, --url-command and --url-endpoint" }
            if let proof = settings["proof"], proof != "status" { return "proof is status, or not set" }
            if let part = settings["part"], PutPart(rawValue: part) == nil { return "part is bundle, photo or body" }
        case .s3:
            if settings["url"] == nil { return "s3 needs --url, with the bucket: https://host/bucket" }
            if let checksum = settings["checksum"], S3Checksum(rawValue: checksum) == nil {
                return "checksum is sha256, md5 or none"
            }
            if settings["url"]?.contains("?") ?? false { return "url holds a query, which no object has" }
            if let url = settings["url"], (WebAddress(URLTemplate(url).example)?.path.utf8.count ?? 0) < 2 {
                return "url names no bucket: expected https://host/bucket or https://host/bucket/prefix"
            }
        }
        return settings["token-file"] != nil && settings["token-command"] != nil
            ? "a token comes from a file or a command, not from both" : nil
    }
}

/// `20%`
enum Percentage {
    static func parse(_ text: String) -> Int? {
        guard text.hasSuffix("%"), let number = WholeNumber.parse(text.without(last: 1)), number <= 100 else {
            return nil
        }
        return number
    }
}

/// `Name: value`, one a line.
enum HeaderLines {
    /// What says where a request ends, who is asked and what is sent of it is nobody else's.
    static func isOurs(_ name: String) -> Bool {
        [
            "connection", "content-length", "content-range", "expect", "host", "idempotency-key", "keep-alive",
            "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
        ].contains(name.lowercased())
    }

    static func parse(_ text: String) -> [HTTPRequest.Header?] {
        text.pieces(by: "\n", keepsEmpty: true).map { line in
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
    }
}

extension Destination {
    package var retryPolicy: RetryPolicy {
        let jitter = settings["jitter"].flatMap(Percentage.parse) ?? 0
        let lifetime = settings["lifetime"].flatMap { QueueAge($0)?.milliseconds }
        if let text = settings["retry"], let policy = RetryPolicy(text: text, jitter: jitter, lifetime: lifetime) {
            return policy
        }
        return RetryPolicy(delays: RetryPolicy.standard.delays, jitter: jitter, lifetime: lifetime)
    }

    /// Whether each request carries a signature over the hash of its body.
    package var signs: Bool { settings["device-id"] != nil }

    /// How many transfers there may be at a time.
    package var concurrency: Int { settings["concurrency"].flatMap { WholeNumber.parse($0) } ?? 1 }

    /// Settings as they may be shown: of URLs the query is left out, and a path that is a secret.
    public var shownSettings: [String: String] {
        settings.reduce(into: [:]) { shown, setting in
            switch setting.key {
            case "url-endpoint", "url", "verify-url", "session-end-url":
                shown[setting.key] = self.shown(URLTemplate(setting.value))
            case "header": shown[setting.key] = HeaderLines.shown(setting.value)
            case "proxy":
                // Without user and password.
                let parts = setting.value.pieces(by: "@")
                let scheme = setting.value.contains("://") ? "\(setting.value.pieces(by: ":")[0])://" : ""
                shown[setting.key] = parts.count > 1 ? "\(scheme)…@\(parts[parts.count - 1])" : setting.value
            default: shown[setting.key] = setting.value
            }
        }
    }
}

extension HeaderLines {
    /// Names alone: a value can be a secret.
    static func shown(_ text: String) -> String {
        parse(text).compactMap { $0.map { "\($0.name): …" } }.joined(separator: ", ")
    }
}
