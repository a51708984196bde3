/// The settings for PUT to a plain URL, or to one that is fetched for each try.
public struct PutSettings: StoredSettings, Hashable, Sendable {
    public enum Source: Hashable, Sendable {
        case url(URLTemplate)
        /// A shell command that prints the URL.
        case command(String)
        /// A URL that answers a POST with the upload URL.
        case endpoint(URLTemplate)
    }

    /// The part of a capture that is uploaded.
    public enum Part: String, Sendable {
        case bundle, photo, body
    }

    public var source: Source
    public var part = Part.bundle
    /// Whether the status alone is the proof, because the server never shows what it has.
    public var trustsStatus = false
    /// The URL that gets a POST when a session has ended and all its members have landed.
    public var sessionEnd: URLTemplate?
    public var token: TokenSettings?
    public var connection = ConnectionSettings()
    public var pace = PaceSettings()

    public init(_ source: Source) { self.source = source }

    init() { self.init(.command("")) }

    mutating func pass(_ texts: inout SettingTexts) throws(QueueError) {
        try passSource(&texts)
        try texts.pass("session-end-url", &sessionEnd, .url)
        try connection.pass(&texts)
        try texts.pass("proof", &trustsStatus, usual: false, .proof)
        try texts.pass("part", &part, usual: .bundle, .word("bundle, photo or body"))
        try TokenSettings.pass(&token, &texts)
    }

    private mutating func passSource(_ texts: inout SettingTexts) throws(QueueError) {
        var (url, command, endpoint): (URLTemplate?, String?, URLTemplate?) = (nil, nil, nil)
        if !texts.isReading {
            switch source {
            case .url(let template): url = template
            case .command(let text): command = text
            case .endpoint(let template): endpoint = template
            }
        }
        try texts.pass("url", &url, .url)
        try texts.pass("url-command", &command, .text)
        try texts.pass("url-endpoint", &endpoint, .url)
        let sources = [url.map(Source.url), command.map(Source.command), endpoint.map(Source.endpoint)]
        let given = sources.compactMap(\.self)
        guard let source = given.first, given.count == 1 else {
            throw QueueError(
                .destinationSettings, "expected one of url, url-command and url-endpoint",
                cause: .missingSetting,
                values: [
                    "put", "https://office.example.org/in/{sha256}.bundle", "url", "url-command", "url-endpoint",
                ])
        }
        self.source = source
    }

    /// Whether several captures can get the same URL. Settings of an older version allow that.
    package var sharesPlaces: Bool { if case .url(let url) = source { !url.tellsCapturesApart } else { false } }
}
