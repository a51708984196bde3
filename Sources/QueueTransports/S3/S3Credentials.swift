import CaptureBundle
import CaptureNative
import QueueModel
import SystemPackage

/// Credentials and region, found in the same way as by AWS's own tools (Spec/queue.md section 12).
struct S3Credentials {
    let key: String
    let secret: String
    let session: String?
    /// For credentials of a command, when they end, in Unix milliseconds; `.max` if it did not say so. Others are read for
    /// each request.
    var end: Int?

    /// How profiles can get keys otherwise, which only AWS's own tools do.
    private static let others = [
        "sso_session", "sso_start_url", "role_arn", "web_identity_token_file", "credential_source", "login_session",
    ]

    /// - Throws: the message for the user if there are no credentials.
    static func find(_ settings: S3Settings, _ control: SendControl) throws -> S3Credentials {
        if let known = fromEnvironment(settings) { return try known.examined() }
        let profile = profile(settings)
        let section = (sections(usualFile)[profile] ?? [:]).merging(configured(profile)) { one, _ in one }
        if let key = section["aws_access_key_id"], let secret = section["aws_secret_access_key"] {
            return try S3Credentials(key: key, secret: secret, session: section["aws_session_token"]).examined()
        }
        if let command = section["credential_process"] { return try printed(by: command, control).examined() }
        if let other = others.first(where: { section[$0] != nil }) {
            throw SendOutcome.ours(
                "the profile \(profile) gets its keys by \(other), which is not supported; export its keys as "
                    + "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN")
        }
        throw SendOutcome.ours(
            "no AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and no keys for the profile \(profile) in \(usualFile)"
        )
    }

    /// Runs the `credential_process` of a profile.
    private static func printed(by command: String, _ control: SendControl) throws -> S3Credentials {
        let output = try SendOutcome.ours(of: "credential_process") {
            try SecretFile.output(of: command, [:], control)
        }
        guard let json = try? JSONParser.parse(output, nesting: 4), json["Version"]?.integer == 1,
            let key = json["AccessKeyId"]?.text, let secret = json["SecretAccessKey"]?.text
        else {
            throw SendOutcome.ours("credential_process: expected JSON with Version 1, AccessKeyId and SecretAccessKey")
        }
        // A time that cannot be read is over, so that the command runs again for the next request.
        let end = json["Expiration"]?.text.map { ends(at: $0) ?? 0 }
        return S3Credentials(key: key, secret: secret, session: json["SessionToken"]?.text, end: end ?? .max)
    }

    /// Parses a time of ISO 8601 in UTC, such as `2026-03-14T15:00:00Z` or `2026-03-14T15:00:00.123456+00:00`.
    private static func ends(at text: String) -> Int? {
        let isUTC = text.hasSuffix("Z") || text.hasSuffix("+00:00")
        return isUTC ? CaptureTime(text.cut(to: 19) + "Z")?.milliseconds : nil
    }

    /// The file that holds the credentials; nil if they come from the environment.
    static func file(_ settings: S3Settings) -> FilePath? {
        fromEnvironment(settings) == nil ? usualFile : nil
    }

    private static var usualFile: FilePath {
        ProcessEnvironment.path("AWS_SHARED_CREDENTIALS_FILE")
            ?? ProcessEnvironment.home.appending(".aws/credentials")
    }

    private static func fromEnvironment(_ settings: S3Settings) -> S3Credentials? {
        guard settings.profile == nil, let key = ProcessEnvironment.value("AWS_ACCESS_KEY_ID"),
            let secret = ProcessEnvironment.value("AWS_SECRET_ACCESS_KEY")
        else { return nil }
        return S3Credentials(key: key, secret: secret, session: ProcessEnvironment.value("AWS_SESSION_TOKEN"))
    }

    /// Checks that the credentials have only printable characters, because they are sent in headers.
    private func examined() throws -> S3Credentials {
        guard [key, secret, session ?? "a"].allSatisfy({ $0.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f } }) else {
            throw SendOutcome.ours("the AWS credentials contain characters that are not allowed in a key")
        }
        return self
    }

    static func region(_ settings: S3Settings) -> String {
        settings.region ?? ProcessEnvironment.value("AWS_REGION") ?? ProcessEnvironment.value("AWS_DEFAULT_REGION")
            ?? configured(profile(settings))["region"] ?? "us-east-1"
    }

    /// What AWS's configuration file says of a profile.
    private static func configured(_ profile: String) -> [String: String] {
        let path =
            ProcessEnvironment.path("AWS_CONFIG_FILE") ?? ProcessEnvironment.home.appending(".aws/config")
        let sections = sections(path)
        return sections[profile == "default" ? profile : "profile \(profile)"] ?? sections[profile] ?? [:]
    }

    private static func profile(_ settings: S3Settings) -> String {
        settings.profile ?? ProcessEnvironment.value("AWS_PROFILE") ?? "default"
    }

    private static func sections(_ path: FilePath) -> [String: [String: String]] {
        let bytes = (try? FileHandle.reading(path).readAll(limit: 1 << 20)) ?? []
        var sections: [String: [String: String]] = [:]
        var name = ""
        for line in String(decoding: bytes, as: UTF8.self).pieces(by: "\n") {
            let line = line.trimmed
            if line.hasPrefix("["), line.hasSuffix("]") {
                name = line.without(first: 1, last: 1).trimmed
            } else if !line.hasPrefix("#"), !line.hasPrefix(";"), let (key, value) = line.nameAndValue(by: "=") {
                sections[name, default: [:]][key] = value
            }
        }
        return sections
    }
}
