import CaptureNative
import QueueModel
import SystemPackage

/// Credentials and region, found in the same way as by AWS's own tools (Spec/queue.md section 12).
struct S3Credentials {
    let key: String
    let secret: String
    let session: String?

    /// - Throws: the message for the user if there are no credentials.
    static func find(_ settings: S3Settings) throws(SendTrouble) -> S3Credentials {
        if let known = fromEnvironment(settings) { return try known.examined() }
        let path = usualFile
        let profile = profile(settings)
        let section = sections(path)[profile] ?? [:]
        guard let key = section["aws_access_key_id"], let secret = section["aws_secret_access_key"] else {
            throw SendTrouble(
                message: "no AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and no profile \(profile) in \(path)")
        }
        return try S3Credentials(key: key, secret: secret, session: section["aws_session_token"]).examined()
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
    private func examined() throws(SendTrouble) -> S3Credentials {
        guard [key, secret, session ?? "a"].allSatisfy({ $0.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f } }) else {
            throw SendTrouble(message: "the AWS credentials contain characters that are not allowed in a key")
        }
        return self
    }

    static func region(_ settings: S3Settings) -> String {
        if let region = settings.region ?? ProcessEnvironment.value("AWS_REGION")
            ?? ProcessEnvironment.value("AWS_DEFAULT_REGION")
        {
            return region
        }
        let path =
            ProcessEnvironment.path("AWS_CONFIG_FILE") ?? ProcessEnvironment.home.appending(".aws/config")
        let profile = profile(settings)
        let sections = sections(path)
        let section = sections[profile == "default" ? profile : "profile \(profile)"] ?? sections[profile]
        return section?["region"] ?? "us-east-1"
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
