import CurlClient
import QueueModel

/// The checksum that is sent to the store with the bytes.
package enum S3Checksum: String, Sendable {
    case sha256, md5, none
}

/// The settings for a bucket of an S3-compatible store.
package struct S3Settings: Hashable, Sendable {
    /// The URL of the object: bucket, prefix and a key that contains the hash.
    package let object: URLTemplate
    /// The region; nil to use the environment and AWS's files.
    package let region: String?
    package let profile: String?
    package let checksum: S3Checksum
    /// Whether `If-None-Match` is sent.
    package let isConditional: Bool
    package let connection: ConnectionSettings

    init(_ reader: inout SettingsReader) throws(SettingsFault) {
        guard let url = try reader.url("url") else {
            throw SettingsFault.missing("url", of: "s3", example: "https://host/bucket")
        }
        if url.text.contains("?") { throw SettingsFault("url has a query, which an S3 bucket cannot have") }
        if (WebAddress(url.example)?.path.utf8.count ?? 0) < 2 {
            throw SettingsFault("url names no bucket: expected https://host/bucket or https://host/bucket/prefix")
        }
        object =
            url.tellsCapturesApart
            ? url : URLTemplate(url.text + (url.text.hasSuffix("/") ? "" : "/") + "{sha256}.bundle")
        region = try reader.text("region")
        profile = try reader.text("profile")
        checksum =
            try reader.value("checksum", "checksum must be sha256, md5 or none", S3Checksum.init(rawValue:)) ?? .sha256
        isConditional = try reader.isOn("condition") ?? true
        connection = try ConnectionSettings(&reader)
    }
}
