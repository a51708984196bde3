import CaptureNative
import CurlClient
package import QueueModel
import SystemPackage

/// A setting that cannot be used, described in words for people.
package struct SettingsFault: Error, Hashable {
    package let message: String
    package let hints: [QueueHint]

    init(_ message: String, hints: [QueueHint] = []) {
        self.message = message
        self.hints = hints
    }

    /// The fault of a setting that another setting, or the kind of the destination, needs.
    static func missing(_ setting: String, of owner: String, example: String? = nil) -> SettingsFault {
        SettingsFault("\(setting) is missing", hints: [.give([setting], owner: owner, example: example)])
    }
}

/// Reads settings from their flat form, each by its name.
struct SettingsReader {
    private var rest: [String: String]

    init(_ flat: [String: String]) { rest = flat }

    /// The names of the settings that were not read yet.
    var unread: [String] { rest.keys.sorted() }

    /// Whether a setting is the word `none`.
    mutating func isNone(_ name: String) -> Bool {
        guard rest[name] == "none" else { return false }
        rest[name] = nil
        return true
    }

    mutating func text(_ name: String) throws(SettingsFault) -> String? {
        guard let text = rest.removeValue(forKey: name) else { return nil }
        if text.isEmpty { throw SettingsFault("\(name) is empty") }
        return text
    }

    /// - Parameters:
    ///   - expected: the message for a value that cannot be parsed.
    ///   - parse: returns nil for such a value.
    mutating func value<Value>(
        _ name: String, _ expected: String, _ parse: (String) -> Value?
    ) throws(SettingsFault) -> Value? {
        guard let text = try text(name) else { return nil }
        guard let value = parse(text) else { throw SettingsFault(expected) }
        return value
    }

    mutating func file(_ name: String) throws(SettingsFault) -> FilePath? { try text(name).map { FilePath($0) } }

    mutating func isOn(_ name: String) throws(SettingsFault) -> Bool? {
        try value(name, "\(name) must be yes or no") { ["yes": true, "no": false][$0] }
    }

    /// Reads a duration in seconds.
    mutating func time(_ name: String) throws(SettingsFault) -> Double? {
        try value(name, "\(name) must be an age of 1s or more") { text in
            QueueAge(text).flatMap { $0.milliseconds < 1000 ? nil : Double($0.milliseconds) / 1000 }
        }
    }

    mutating func url(_ name: String) throws(SettingsFault) -> URLTemplate? {
        guard let template = try text(name).map(URLTemplate.init) else { return nil }
        if let fault = Self.fault(of: template) { throw SettingsFault("\(name): \(fault)") }
        return template
    }

    private static func fault(of template: URLTemplate) -> String? {
        guard let address = WebAddress(template.example) else {
            return CurlLibraryState.isThere
                ? form(of: template.text) : "libcurl.so.4 is not installed"
        }
        if template.text.contains("#") { return "a fragment (#) is never sent; leave it out" }
        if address.hasUser { return "leave user and password out of the URL, because it is shown; use a token file" }
        return template.unknown.map { "{\($0)} is unknown; use {sha256}, {id} or {session}" }
    }

    /// What is wrong with a text that cannot be parsed as a URL.
    private static func form(of text: String) -> String {
        if text.utf8.contains(UInt8(ascii: " ")) { return "the URL has a space in it; leave it out, or write %20" }
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
