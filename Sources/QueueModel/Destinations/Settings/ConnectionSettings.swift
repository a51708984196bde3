public import SystemPackage

/// How to connect to a server, and what each request to it carries.
public struct ConnectionSettings: Hashable, Sendable {
    /// A PEM file of certificate authorities that replaces the system's.
    public var authorities: FilePath?
    public var certificate: FilePath?
    public var certificateKey: FilePath?
    /// A proxy that replaces the one of the environment.
    public var proxy: String?
    // The times of Spec/upload.md section 4.6.
    public var connectTimeout = Duration.seconds(15)
    public var stallTimeout = Duration.seconds(60)
    public var answerTimeout = Duration.seconds(120)
    /// The user's own headers.
    public var headers: [Header] = []
    /// Whether paths are never shown, because anyone who knows a URL of the destination could use it.
    public var hidesPaths = false

    /// One header of a request.
    public struct Header: Hashable, Sendable {
        public let name: String
        public let value: String
    }

    public init() {}

    mutating func pass(_ texts: inout SettingTexts) throws(QueueError) {
        try texts.pass("ca", &authorities, .file)
        try texts.pass("cert", &certificate, .file)
        try texts.pass("cert-key", &certificateKey, .file)
        try texts.pass("proxy", &proxy, .text)
        try texts.pass("connect-timeout", &connectTimeout, usual: .seconds(15), .time)
        try texts.pass("stall-timeout", &stallTimeout, usual: .seconds(60), .time)
        try texts.pass("answer-timeout", &answerTimeout, usual: .seconds(120), .time)
        try texts.pass("header", &headers, usual: [], Header.lines)
        if texts.isReading, let ours = headers.first(where: \.isOurs) {
            throw QueueError(.destinationSettings, "header: \(ours.name.lowercased()) is set by the queue itself")
        }
        try texts.pass("secret-path", &hidesPaths, usual: false, .flag)
    }
}

extension ConnectionSettings.Header {
    /// Parses `Name: value`. Returns nil for a header that cannot be sent.
    public init?(_ line: String) {
        let parts = line.pieces(by: ":", limit: 2, keepsEmpty: true)
        guard parts.count == 2, !parts[0].isEmpty else { return nil }
        name = parts[0]
        value = String(decoding: parts[1].utf8.drop { $0 == 0x20 }, as: UTF8.self)
        let isToken = name.utf8.allSatisfy { byte in
            byte > 0x20 && byte < 0x7f && !"()<>@,;:\\\"/[]?={}".utf8.contains(byte)
        }
        guard isToken, !value.isEmpty, value.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7f }) else { return nil }
    }

    /// Whether the header frames the request or is made for it, so that only capqueue may set it.
    package var isOurs: Bool {
        [
            "connection", "content-length", "content-range", "expect", "host", "idempotency-key", "keep-alive",
            "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
        ].contains(name.lowercased())
    }

    fileprivate static var lines: SettingForm<[Self]> {
        SettingForm(
            expected: ": expected Name: value, of printable ASCII",
            read: { text in
                let headers = text.pieces(by: "\n", keepsEmpty: true).map { Self($0) }
                return headers.contains(nil) ? nil : headers.compactMap(\.self)
            }, write: { $0.map { "\($0.name): \($0.value)" }.joined(separator: "\n") })
    }
}

/// The source of a bearer token.
public enum TokenSettings: Hashable, Sendable {
    case file(FilePath)
    /// The output of a shell command.
    case command(String)

    static func pass(_ token: inout TokenSettings?, _ texts: inout SettingTexts) throws(QueueError) {
        var (file, command): (FilePath?, String?) = (nil, nil)
        switch token {
        case .file(let path): file = path
        case .command(let text): command = text
        case nil: break
        }
        try texts.pass("token-file", &file, .file)
        try texts.pass("token-command", &command, .text)
        if file != nil, command != nil {
            throw QueueError(.destinationSettings, "give either a token-file or a token-command, not both")
        }
        token = file.map(Self.file) ?? command.map(Self.command)
    }
}
