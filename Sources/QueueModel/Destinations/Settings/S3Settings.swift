/// The settings for a bucket of an S3-compatible store.
public struct S3Settings: StoredSettings, Hashable, Sendable {
    /// The checksum that is sent to the store with the bytes.
    public enum Checksum: String, Sendable {
        case sha256, md5, none
    }

    /// The URL of the bucket, with a prefix, or with a key that contains the hash.
    public var url: URLTemplate
    /// The region; nil to use the environment and AWS's files.
    public var region: String?
    /// The profile in AWS's files.
    public var profile: String?
    public var checksum = Checksum.sha256
    /// Whether `If-None-Match` is sent.
    public var isConditional = true
    /// Whether the status alone is the proof where the store lets nobody read what it has.
    public var trustsStatus = false
    public var connection = ConnectionSettings()
    public var pace = PaceSettings()

    public init(url: URLTemplate) { self.url = url }

    init() { self.init(url: URLTemplate("")) }

    mutating func pass(_ texts: inout SettingTexts) throws(QueueError) {
        try texts.pass(
            "url", &url, .url,
            lacking: .missing("url", of: "s3", example: "https://host/bucket"))
        try texts.pass("region", &region, .text)
        try texts.pass("profile", &profile, .text)
        try texts.pass("checksum", &checksum, usual: .sha256, .word("sha256, md5 or none"))
        try texts.pass("condition", &isConditional, usual: true, .flag)
        try texts.pass("proof", &trustsStatus, usual: false, .proof)
        try connection.pass(&texts)
    }

    /// The URL of an object: bucket, prefix and a key that contains the hash.
    package var object: URLTemplate {
        url.tellsCapturesApart
            ? url : URLTemplate(url.text + (url.text.hasSuffix("/") ? "" : "/") + "{sha256}.bundle")
    }
}
