import CaptureNative
package import CurlClient
import QueueModel
package import SystemPackage

/// How to connect to a server, and what each request to it carries.
package struct ConnectionSettings: Hashable, Sendable {
    package let options: ConnectionOptions
    /// The user's own headers.
    package let headers: [HTTPRequest.Header]
    /// Whether paths are never shown, because anyone who knows a URL of the destination could use it.
    package let hidesPaths: Bool

    init(_ reader: inout SettingsReader) throws(SettingsFault) {
        var options = ConnectionOptions()
        options.authorities = try reader.text("ca")
        options.certificate = try reader.text("cert")
        options.certificateKey = try reader.text("cert-key")
        options.proxy = try reader.value(
            "proxy", "proxy must be a URL of http, https, socks4, socks4a, socks5 or socks5h, or host:port"
        ) { Self.isProxy($0) ? $0 : nil }
        options.times.connect = try reader.time("connect-timeout") ?? options.times.connect
        options.times.stall = try reader.time("stall-timeout") ?? options.times.stall
        options.times.answer = try reader.time("answer-timeout") ?? options.times.answer
        self.options = options
        headers =
            try reader.value("header", "header: expected Name: value, of printable ASCII", HeaderLines.parse) ?? []
        if let name = headers.map({ $0.name.lowercased() }).first(where: HeaderLines.isOurs) {
            throw SettingsFault("header: \(name) is set by the queue itself")
        }
        hidesPaths = try reader.isOn("secret-path") ?? false
    }

    var certificateKey: FilePath? { options.certificateKey.map { FilePath($0) } }

    /// The URL for output, without its query, which may contain a signature.
    func shown(_ address: WebAddress) -> String { address.shown(hidesPath: hidesPaths) }

    /// The URL as the user gave it, without the query, and without a secret path.
    func shown(_ template: URLTemplate) -> String {
        guard hidesPaths else { return template.shown }
        return WebAddress(template.example).map(shown) ?? "…"
    }

    private static func isProxy(_ text: String) -> Bool {
        let parts = text.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
        let schemes = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"]
        if parts.count == 2, !schemes.contains(parts[0].lowercased()) { return false }
        return WebAddress("http://\(parts[parts.count - 1])") != nil
    }
}

/// The source of a bearer token.
package enum TokenSettings: Hashable, Sendable {
    case file(FilePath)
    /// The output of a shell command.
    case command(String)

    /// Returns nil if no token is set.
    static func read(_ reader: inout SettingsReader) throws(SettingsFault) -> TokenSettings? {
        switch (try reader.file("token-file"), try reader.text("token-command")) {
        case (let file?, nil): return .file(file)
        case (nil, let command?): return .command(command)
        case (nil, nil): return nil
        default: throw SettingsFault("give either a token-file or a token-command, not both")
        }
    }

    var file: FilePath? { if case .file(let path) = self { path } else { nil } }
}
