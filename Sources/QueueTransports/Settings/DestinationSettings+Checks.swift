import CaptureBundle
import CaptureNative
import CurlClient
package import QueueModel
import SystemPackage

extension DestinationSettings {
    private static let files = ["ca", "cert", "cert-key", "key", "passphrase-file", "realitycam-key", "token-file"]
    private static let urls = ["url", "url-endpoint", "session-end-url", "verify-url"]

    /// Checks new settings of a destination.
    ///
    /// - Returns: the settings, with paths of files made absolute.
    /// - Throws: `destination.settings`.
    package func examined(of name: String) throws(QueueError) -> DestinationSettings {
        do throws(QueueError) {
            try check()
            if case .put(let put) = self, put.sharesPlaces {
                throw QueueError(.destinationSettings, PutSettings.urlWithoutHash, cause: .sharedURL)
            }
            var settings = self
            var paths: [String: String?] = [:]
            for (key, text) in texts where Self.files.contains(key) {
                paths[key] = try Self.readable(text, key)
            }
            // Values that a program has set are read once more, which refuses those that are out of range.
            try settings.set(paths)
            return settings
        } catch {
            throw error.about(name)
        }
    }

    /// Checks what only libcurl can read.
    ///
    /// - Throws: `destination.settings`.
    package func check() throws(QueueError) {
        if case .unusable(_, _, let fault) = self { throw fault }
        let texts = texts
        for key in Self.urls {
            guard let text = texts[key], key != "verify-url" || text != "none",
                let fault = Self.fault(of: URLTemplate(text))
            else { continue }
            throw QueueError(.destinationSettings, "\(key): \(fault)")
        }
        if let proxy = texts["proxy"], !Self.isProxy(proxy) {
            throw QueueError(
                .destinationSettings,
                "proxy must be a URL of http, https, socks4, socks4a, socks5 or socks5h, or host:port")
        }
        guard case .s3(let s3) = self else { return }
        if s3.url.text.contains("?") {
            throw QueueError(.destinationSettings, "url has a query, which an S3 bucket cannot have")
        }
        if let address = WebAddress(s3.url.example), address.path.utf8.count < 2,
            !Self.mayNameBucket(address.origin.host)
        {
            throw QueueError(
                .destinationSettings,
                "url names no bucket: expected https://host/bucket or https://host/bucket/prefix")
        }
    }

    /// Whether the first part of a host can be the name of a bucket.
    private static func mayNameBucket(_ host: String) -> Bool {
        let parts = host.pieces(by: ".")
        let isAddress = host.contains(":") || parts.allSatisfy { WholeNumber.parse($0) != nil }
        return parts.count > 1 && !isAddress && parts[0] != "s3" && !parts[0].hasPrefix("s3-")
    }

    /// The path of a readable file, made absolute, or the URI of a key in hardware.
    private static func readable(_ text: String, _ key: String) throws(QueueError) -> String {
        if ["key", "realitycam-key"].contains(key), let uri = HardwareKeyURI(FilePath(text)) {
            // Settings are shown to people.
            guard uri.showsPIN else { return uri.text }
            throw QueueError(
                .destinationSettings, "\(key): \(uri.shown) also has the PIN, in pin-value, where everyone can read it",
                cause: .shownPIN)
        }
        let path = FilePath(text).absolute
        guard let text = String(validating: path) else {
            throw QueueError(.destinationSettings, "\(key): the name of its folder is not UTF-8")
        }
        do throws(NativeError) { _ = try FileHandle.reading(path) } catch {
            throw QueueError(.destinationSettings, "\(key): \(path) cannot be read: \(error.text)")
        }
        return text
    }

    private static func isProxy(_ text: String) -> Bool {
        let parts = text.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
        let schemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]
        if parts.count == 2, !schemes.contains(parts[0].lowercased()) { return false }
        return WebAddress("http://\(parts[parts.count - 1])") != nil
    }

    private static func fault(of template: URLTemplate) -> String? {
        guard let address = WebAddress(template.example) else {
            return CurlSession.isAvailable ? form(of: template.text) : "libcurl.so.4 is not installed"
        }
        if template.text.contains("#") { return "a fragment (#) is never sent; leave it out" }
        if address.hasUser { return "leave user and password out of the URL, because it is shown; use a token file" }
        return template.unknown.map { "{\($0)} is unknown; use {sha256}, {id} or {session}" }
    }

    /// What to write in place of letters that are not ASCII, such as umlauts.
    private static func beyondASCII(_ text: String) -> String? {
        guard text.utf8.contains(where: { $0 > 0x7f }) else { return nil }
        let start = text.pieces(around: "://")
        let host = (start.count > 1 ? start[1] : text).pieces(by: "/", keepsEmpty: true).first ?? ""
        if host.utf8.contains(where: { $0 > 0x7f }) {
            return "the host has letters that are not ASCII; write its name as xn--..., which its registrar shows"
        }
        let escaped = text.utf8.map { byte in
            byte > 0x7f ? "%" + Hex.encode([byte]).uppercased() : String(decoding: [byte], as: UTF8.self)
        }
        return "the URL has letters that are not ASCII; write \(escaped.joined())"
    }

    /// What is wrong with a text that cannot be parsed as a URL.
    private static func form(of text: String) -> String {
        if text.utf8.contains(UInt8(ascii: " ")) { return "the URL has a space in it; leave it out, or write %20" }
        if let fault = Self.beyondASCII(text) { return fault }
        if text.hasPrefix("s3://") { return "expected https://HOST/BUCKET instead of s3://" }
        guard text.hasPrefix("https://") || text.hasPrefix("http://") else {
            return "expected a URL that begins with https:// or http://"
        }
        let host = text.pieces(by: "/").dropFirst().first ?? ""
        let port = host.pieces(by: ":", keepsEmpty: true).dropFirst().last.flatMap(WholeNumber.parse)
        return port.map { $0 > 65535 } ?? false
            ? "the port is over 65535" : "the URL cannot be read, expected https://HOST/PATH"
    }
}

extension PutSettings {
    static let urlWithoutHash =
        "the path of the URL has no {sha256}: several captures can have one id, and a server may ignore the query, so a "
        + "later one would replace an earlier one"
}
