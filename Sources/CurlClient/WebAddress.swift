import CCurl

/// A URL, parsed by libcurl, so that the parser that chooses the host is the one that sends the bytes (RFC 3986).
package struct WebAddress: Hashable, Sendable {
    /// Scheme, host and port, to which credentials are bound.
    package struct Origin: Hashable, Sendable, CustomStringConvertible {
        package let scheme: String
        package let host: String
        package let port: String
        /// The zone of a link-local address, such as `eth0` (RFC 6874); nil without one.
        package let zone: String?

        package var description: String { "\(scheme)://\(zonedHost)\(portPart)" }

        /// The host as a URL has it, with its zone.
        package var zonedHost: String { zone.map { "\(String(host.unicodeScalars.dropLast()))%25\($0)]" } ?? host }

        /// Host and port as in the header Host, without the zone, which means nothing at the other side.
        package var authority: String { host + portPart }

        private var portPart: String { port == (scheme == "https" ? "443" : "80") ? "" : ":\(port)" }
    }

    package let text: String
    package let origin: Origin
    /// The path, which begins with a slash.
    package let path: String
    package let query: String?
    package let hasUser: Bool

    /// - Returns: nil unless the text is an absolute URL of http or https.
    package init?(_ text: String) {
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }), let parts = AddressParts(text),
            let scheme = parts.get(CURLUPART_SCHEME)?.lowercased(), ["http", "https"].contains(scheme),
            let host = parts.get(CURLUPART_HOST)?.lowercased(), !host.isEmpty,
            let port = parts.get(CURLUPART_PORT, UInt32(CURLU_DEFAULT_PORT))
        else { return nil }
        self.text = text
        origin = Origin(scheme: scheme, host: host, port: port, zone: parts.get(CURLUPART_ZONEID))
        path = parts.get(CURLUPART_PATH) ?? "/"
        query = parts.get(CURLUPART_QUERY)
        hasUser = parts.get(CURLUPART_USER) != nil || parts.get(CURLUPART_PASSWORD) != nil
    }

    package var withoutQuery: String { query == nil ? text : origin.description + path }

    /// The URL for people, without its query, which may hold a signature, and, if `hidesPath`, without its path, which
    /// may be a secret.
    package func shown(hidesPath: Bool) -> String {
        hidesPath ? "\(origin)/…" : origin.description + path + (query == nil ? "" : "?…")
    }
}

/// The owner of one `CURLU`.
@safe
private final class AddressParts {
    private let handle: OpaquePointer
    private let curl: CurlLibrary

    init?(_ text: String) {
        guard let curl = CurlLibrary.shared, let handle = unsafe curl.calls.pointee.url() else { return nil }
        self.curl = curl
        unsafe self.handle = handle
        guard unsafe curl.calls.pointee.url_set(handle, CURLUPART_URL, text, 0) == CURLUE_OK else { return nil }
    }

    deinit { unsafe curl.calls.pointee.url_cleanup(handle) }

    func get(_ part: CURLUPart, _ flags: UInt32 = 0) -> String? {
        var value: UnsafeMutablePointer<CChar>?
        guard unsafe curl.calls.pointee.url_get(handle, part, &value, flags) == CURLUE_OK,
            let found = unsafe value
        else { return nil }
        defer { unsafe curl.calls.pointee.free(found) }
        return unsafe String(cString: found)
    }
}
