import CaptureNative
import CurlClient
public import QueueModel
package import SystemPackage

/// What the queue needs to know about a destination besides its transport.
extension Destination {
    /// Parses the settings.
    ///
    /// - Throws: what is wrong with the settings. An older or newer version may have written them.
    package func parsedSettings() throws(SettingsFault) -> DestinationSettings {
        guard let known = Kind(rawValue: kind) else {
            let kinds = Kind.allCases.map(\.rawValue).joined(separator: ", ")
            throw SettingsFault("there is no kind \(kind), expected one of \(kinds)")
        }
        return try DestinationSettings(settings, known)
    }

    /// The pace. If the settings cannot be parsed, this is the default pace, and the transport reports the error.
    package var pace: PaceSettings {
        var reader = SettingsReader(settings)
        return (try? PaceSettings(&reader)) ?? PaceSettings()
    }

    // The following members do not use the parser, so that a push does not need libcurl to examine URLs.

    /// Whether requests carry a signature over the hash of a body, and the body is the same in every attempt.
    package var signs: Bool { settings["device-id"] != nil && settings["profile"] != "realitycam" }

    /// Whether the destination is notified when a session has ended and all its members have landed.
    package var isToldOfSessions: Bool { settings["session-end-url"] != nil }

    /// The path of a folder destination.
    package var folder: FilePath? { settings["path"].map { FilePath($0) } }

    /// The settings in a form that may be shown, even if they are invalid: URLs without query and without secret paths.
    public var shownSettings: [String: String] {
        settings.reduce(into: [:]) { shown, setting in
            switch setting.key {
            case "url-endpoint", "url", "verify-url", "session-end-url":
                shown[setting.key] = self.shown(URLTemplate(setting.value))
            case "header": shown[setting.key] = HeaderLines.shown(setting.value)
            case "proxy":
                // Leave out user and password.
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
