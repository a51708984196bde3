import QueueModel

/// The part of a capture that is uploaded.
package enum PutPart: String, Sendable {
    case bundle, photo, body
}

/// The settings for PUT to a plain URL, or to one that is fetched for each try.
package struct PutSettings: Hashable, Sendable {
    package enum Source: Hashable, Sendable {
        case url(URLTemplate)
        /// A shell command that prints the URL.
        case command(String)
        /// A URL that answers a POST with the upload URL.
        case endpoint(URLTemplate)
    }

    package let source: Source
    package let part: PutPart
    /// Whether the status alone is the proof, because the server never shows what it has.
    package let trustsStatus: Bool
    /// The URL that gets a POST when a session has ended and all its members have landed.
    package let sessionEnd: URLTemplate?
    package let token: TokenSettings?
    package let connection: ConnectionSettings

    init(_ reader: inout SettingsReader) throws(SettingsFault) {
        let sources = [
            try reader.url("url").map(Source.url), try reader.text("url-command").map(Source.command),
            try reader.url("url-endpoint").map(Source.endpoint),
        ].compactMap(\.self)
        guard let source = sources.first, sources.count == 1 else {
            throw SettingsFault(
                "expected one of url, url-command and url-endpoint",
                hints: [
                    .give(
                        ["url", "url-command", "url-endpoint"], owner: "put",
                        example: "https://office.example.org/in/{sha256}.bundle")
                ])
        }
        self.source = source
        sessionEnd = try reader.url("session-end-url")
        connection = try ConnectionSettings(&reader)
        trustsStatus =
            try reader.value("proof", "proof must be status or not set") { $0 == "status" ? true : nil } ?? false
        part = try reader.value("part", "part must be bundle, photo or body", PutPart.init(rawValue:)) ?? .bundle
        token = try TokenSettings.read(&reader)
    }

    /// Whether several captures can get the same URL. Settings of an older version allow that.
    package var sharesPlaces: Bool { if case .url(let url) = source { !url.tellsCapturesApart } else { false } }

    static let urlWithoutHash =
        "the path of the URL has no {sha256}: several captures can have one id, and a server may ignore the query, so a "
        + "later one would replace an earlier one"
}
