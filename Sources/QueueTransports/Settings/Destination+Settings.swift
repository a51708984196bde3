public import CaptureBundle
import CurlClient
public import QueueModel
package import SystemPackage

/// What the queue needs to know about a destination besides its transport.
extension Destination {
    /// The pace. If the settings cannot be read, this is the usual pace, and the transport reports the error.
    package var pace: PaceSettings { settings.pace }

    /// Whether requests carry a signature over the hash of a body, and the body is the same in every attempt.
    package var signs: Bool { if case .http(let http) = settings { http.device != nil } else { false } }

    /// Whether a bundle is posted as a form with a part for each entry (Spec/upload.md section 1).
    package var postsEntries: Bool {
        if case .http(let http) = settings { http.realityCam == nil } else { false }
    }

    /// Whether the destination is notified when a session has ended and all its members have landed.
    package var isToldOfSessions: Bool { settings.texts["session-end-url"] != nil }

    package var folder: FilePath? { settings.texts["path"].map { FilePath($0) } }

    /// The errors for files with secrets of this destination that other users can read or write, each with a hint.
    ///
    /// They only cause a warning, because the user wrote the files. An exposed device key is refused on loading.
    public var openSecrets: [BundleError] {
        if case .unusable = settings { return [] }
        let texts = settings.texts
        var files = ["token-file", "passphrase-file", "cert-key"].compactMap { texts[$0].map { FilePath($0) } }
        if case .s3(let s3) = settings { files += [S3Credentials.file(s3)].compactMap(\.self) }
        return files.compactMap { FileAccess.exposure(ofSecret: $0) }
    }

    /// The settings in a form that may be shown, even if they are invalid: URLs without query and without secret paths.
    public var shownSettings: [String: String] {
        let texts = settings.texts
        return texts.reduce(into: [:]) { shown, setting in
            switch setting.key {
            case "url-endpoint", "url", "verify-url", "session-end-url":
                let url = URLTemplate(setting.value)
                let isSecret = texts["secret-path"] == "yes"
                shown[setting.key] =
                    isSecret ? WebAddress(url.example)?.shown(hidesPath: true) ?? "…" : url.shown
            case "header":
                // A value can be a secret.
                let names = setting.value.pieces(by: "\n").compactMap { ConnectionSettings.Header($0)?.name }
                shown[setting.key] = names.map { "\($0): …" }.joined(separator: ", ")
            case "proxy":
                // Leave out user and password.
                let parts = setting.value.pieces(by: "@")
                let scheme = setting.value.contains("://") ? "\(setting.value.pieces(by: ":")[0])://" : ""
                shown[setting.key] = parts.count > 1 ? "\(scheme)…@\(parts[parts.count - 1])" : setting.value
            default: shown[setting.key] = setting.value
            }
        }
    }
}
