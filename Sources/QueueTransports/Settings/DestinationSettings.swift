import CaptureBundle
import CaptureNative
package import QueueModel
import SystemPackage

/// The settings of a destination, by its kind (Spec/queue.md section 12).
package enum DestinationSettings: Hashable, Sendable {
    case folder(FolderSettings)
    case http(CaptureAPISettings)
    case put(PutSettings)
    case s3(S3Settings)

    /// - Parameter flat: the settings as the database stores them.
    package init(_ flat: [String: String], _ kind: Destination.Kind) throws(SettingsFault) {
        var reader = SettingsReader(flat)
        // This only checks the pace; `Destination.pace` reads it.
        let pace = try PaceSettings(&reader)
        switch kind {
        case .folder: self = .folder(try FolderSettings(&reader))
        case .http:
            let http = try CaptureAPISettings(&reader)
            // Counters must arrive in the order in which they were reserved (Spec/upload.md section 6.4).
            if http.realityCam != nil, pace.concurrency != 1 {
                throw SettingsFault("concurrency must be 1 for profile realitycam, which needs its requests in order")
            }
            self = .http(http)
        case .put: self = .put(try PutSettings(&reader))
        case .s3: self = .s3(try S3Settings(&reader))
        }
        if let name = reader.unread.first { throw SettingsFault("\(kind.rawValue) has no setting \(name)") }
    }

    private static let files = ["ca", "cert", "cert-key", "key", "passphrase-file", "realitycam-key", "token-file"]

    /// Checks the settings of `dest add` and `dest set`.
    ///
    /// - Returns: the settings, with paths made absolute.
    /// - Throws: `destination.settings`.
    package static func examined(
        _ settings: [String: String], _ kind: Destination.Kind, of name: String
    ) throws(QueueError) -> [String: String] {
        do throws(SettingsFault) {
            let parsed = try DestinationSettings(settings, kind)
            if case .put(let put) = parsed, put.sharesPlaces {
                throw SettingsFault(
                    PutSettings.urlWithoutHash, hints: ["add {sha256} to it, for example {id}-{sha256}.bundle"])
            }
            var settings = settings
            for key in files {
                guard let text = settings[key] else { continue }
                settings[key] = try readable(FilePath(text).absolute, key)
            }
            return settings
        } catch {
            throw QueueError(.destinationSettings, error.message, of: name, hints: error.hints)
        }
    }

    private static func readable(_ path: FilePath, _ key: String) throws(SettingsFault) -> String {
        guard let text = String(validating: path) else {
            throw SettingsFault("\(key): the name of its folder is not UTF-8")
        }
        do throws(NativeError) { _ = try FileHandle.reading(path) } catch {
            throw SettingsFault("\(key): \(path) cannot be read: \(error.text)")
        }
        return text
    }
}
