import CaptureNative
import CurlClient
public import QueueModel
package import SystemPackage

/// What the queue asks about a destination beside its transport.
extension Destination {
    /// - Throws: what is wrong with them; an older or newer version may have written them.
    package func parsedSettings() throws(SettingsFault) -> DestinationSettings {
        guard let known = Kind(rawValue: kind) else {
            let kinds = Kind.allCases.map(\.rawValue).joined(separator: ", ")
            throw SettingsFault("there is no kind \(kind), expected one of \(kinds)")
        }
        return try DestinationSettings(settings, known)
    }

    /// The usual one where it cannot be parsed: the transport says so.
    package var pace: PaceSettings {
        var reader = SettingsReader(settings)
        return (try? PaceSettings(&reader)) ?? PaceSettings()
    }

    // What follows is asked without the parser, so that a push needs no libcurl to look at URLs.

    /// Whether each request carries a signature over the hash of its body.
    package var signs: Bool { settings["device-id"] != nil }

    /// Whether it is told when a session has landed.
    package var isToldOfSessions: Bool { settings["session-end-url"] != nil }

    /// Where a folder is.
    package var folder: FilePath? { settings["path"].map { FilePath($0) } }

    /// Settings as they may be shown, those that cannot be used, too: of URLs the query is left out, and a path that is a
    /// secret.
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

    private func shown(_ template: URLTemplate) -> String {
        guard settings["secret-path"] == "yes" else { return template.shown }
        return WebAddress(template.example)?.shown(hidesPath: true) ?? "…"
    }
}
