import QueueModel
import QueueTransports
import Testing

/// Settings that cannot work are refused, and the error says what was expected.
struct RefusedSettingsTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let kind: Destination.Kind
        let settings: [String: String]
        let message: String
        /// The values of `missingSetting`.
        let missing: [String]

        init(
            _ kind: Destination.Kind, _ settings: [String: String], _ message: String, _ missing: [String] = []
        ) {
            self.kind = kind
            self.settings = settings
            self.message = message
            self.missing = missing
        }

        var testDescription: String { "\(kind.rawValue), \(message)" }
    }

    @Test(arguments: Self.ofKinds + Self.ofURLs + Self.ofPace + Self.ofConnections)
    func refuses(_ refused: Case) {
        let fault = #expect(throws: QueueError.self) {
            try DestinationSettings(refused.kind, refused.settings).check()
        }
        #expect(fault?.message == refused.message)
        let error = #expect(throws: QueueError.self) {
            try DestinationSettings(refused.kind, refused.settings).examined(of: "it")
        }
        #expect(error?.code == .destinationSettings)
        #expect(error?.message == refused.message)
        #expect(error?.values == refused.missing)
    }

    private static let noID = "device-id is missing, the UUID that the server gave the device"

    private static func deviceID(of owner: String) -> [String] {
        [owner, "", "device-id"]
    }

    private static func profile(of owner: String) -> [String] {
        [owner, "", "profile realitycam"]
    }

    private static let putURL = [
        "put", "https://office.example.org/in/{sha256}.bundle", "url", "url-command", "url-endpoint",
    ]

    private static let id = "7e57ab1e-0000-4000-8000-000000000051"
    private static let bucket = "https://s3.example/roof"

    private static let ofKinds = [
        Case(.folder, [:], "path is missing", ["folder", "", "path"]),
        Case(.folder, ["path": ""], "path is empty"),
        Case(.folder, ["path": "/mnt", "url": bucket], "folder has no setting url"),
        Case(
            .http, [:], "url is missing",
            ["http", "https://captures.example.org; without a path, /api/v1/captures is used", "url"]),
        Case(
            .http, ["url": bucket, "device-id": "7"],
            "device-id is not a UUID; the server gave the device one"),
        Case(.http, ["url": bucket, "key": "/k"], noID, deviceID(of: "a key")),
        Case(.http, ["url": bucket, "passphrase-file": "/k"], noID, deviceID(of: "a key")),
        Case(
            .http, ["url": bucket, "token-file": "/t", "token-command": "pass"],
            "give either a token-file or a token-command, not both"),
        Case(.http, ["url": bucket, "part": "photo"], "http has no setting part"),
        Case(.http, ["url": bucket, "profile": "other"], "profile must be capture or realitycam"),
        Case(.http, ["url": bucket, "rpid": "A.b"], "profile realitycam is missing", profile(of: "rpid")),
        Case(
            .http, ["url": bucket, "profile": "capture", "realitycam-key": "/k"],
            "profile realitycam is missing", profile(of: "realitycam-key")),
        Case(
            .http, ["url": bucket, "assertion": "no"], "profile realitycam is missing", profile(of: "assertion")),
        Case(
            .http, ["url": bucket, "profile": "realitycam"], noID,
            deviceID(of: "profile realitycam")),
        Case(
            .http, ["url": bucket, "profile": "realitycam", "device-id": id, "key": "/k"],
            "key is the key that signs bundles; profile realitycam signs with realitycam-key"),
        Case(
            .http, ["url": bucket, "profile": "realitycam", "device-id": id, "concurrency": "2"],
            "concurrency must be 1 for profile realitycam, which needs its requests in order"),
        Case(
            .http, ["url": bucket, "profile": "realitycam", "device-id": id, "rpid": "app"],
            "rpid must be a team and a bundle id, such as XXXXXXXXXX.com.realitycam.app"),
        Case(.put, [:], "expected one of url, url-command and url-endpoint", putURL),
        Case(
            .put, ["url": "https://a.example/{sha256}", "url-command": "sign"],
            "expected one of url, url-command and url-endpoint", putURL),
        Case(.put, ["url-command": "sign", "proof": "trust"], "proof must be status or not set"),
        Case(.put, ["url-command": "sign", "part": "depth"], "part must be bundle, photo or body"),
        Case(
            .put, ["url-command": "sign", "token-file": "/t", "token-command": "pass"],
            "give either a token-file or a token-command, not both"),
        Case(.put, ["url-command": "sign", "key": "/k"], "put has no setting key"),
        Case(
            .s3, [:], "url is missing", ["s3", "https://host/bucket", "url"]),
        Case(.s3, ["url": bucket, "checksum": "crc32"], "checksum must be sha256, md5 or none"),
        Case(.s3, ["url": bucket, "condition": "maybe"], "condition must be yes or no"),
        Case(.s3, ["url": bucket + "?acl"], "url has a query, which an S3 bucket cannot have"),
        Case(
            .s3, ["url": "https://s3.example/"],
            "url names no bucket: expected https://host/bucket or https://host/bucket/prefix"),
        Case(.s3, ["url": bucket, "token-file": "/t"], "s3 has no setting token-file"),
    ]

    private static let ofURLs = [
        ("url", Destination.Kind.http), ("verify-url", .http), ("url", .put), ("url-endpoint", .put),
        ("session-end-url", .put), ("url", .s3),
    ].flatMap { name, kind in
        [
            ("ftp://a.example/b", "expected a URL that begins with https:// or http://"),
            ("s3://bucket/x", "expected https://HOST/BUCKET instead of s3://"),
            ("http://a.example:99999", "the port is over 65535"),
            ("https://a.example:65536/b", "the port is over 65535"),
            ("http://a.example/b ", "the URL has a space in it; leave it out, or write %20"),
            ("https://", "the URL cannot be read, expected https://HOST/PATH"),
            ("https://a.example/b#c", "a fragment (#) is never sent; leave it out"),
            (
                "https://me:word@a.example/b",
                "leave user and password out of the URL, because it is shown; use a token file"
            ),
            ("https://a.example/{name}", "{name} is unknown; use {sha256}, {id} or {session}"),
        ].map { value, fault in
            let others = ["verify-url": ["url": bucket], "session-end-url": ["url-command": "sign"]]
            let settings = (others[name] ?? [:]).merging([name: value]) { $1 }
            return Case(kind, settings, "\(name): \(fault)")
        }
    }

    private static let ofPace = Destination.Kind.allCases.flatMap { kind in
        [
            ("concurrency", "0", "concurrency must be 1 to 64"), ("concurrency", "65", "concurrency must be 1 to 64"),
            ("concurrency", "two", "concurrency must be 1 to 64"),
            ("bwlimit", "0", "bwlimit must be a size, such as 2MB, or none"),
            ("bwlimit", "fast", "bwlimit must be a size, such as 2MB, or none"),
            (
                "retry", "soon",
                "retry must be a list of 1 to 100 numbers of seconds, each at most 604800, such as 0,1,2,4,8,300x5"
            ),
            ("jitter", "101%", "jitter must be 0% to 100%"), ("jitter", "20", "jitter must be 0% to 100%"),
            ("lifetime", "long", "lifetime must be an age, such as 30d"), ("retry", "", "retry is empty"),
        ].map { name, value, message in Case(kind, [name: value], message) }
    }

    private static let ofConnections = [
        ("connect-timeout", "0s", "connect-timeout must be an age of 1s or more"),
        ("stall-timeout", "soon", "stall-timeout must be an age of 1s or more"),
        ("answer-timeout", "5", "answer-timeout must be an age of 1s or more"),
        ("secret-path", "maybe", "secret-path must be yes or no"), ("ca", "", "ca is empty"),
        ("header", "nothing", "header: expected Name: value, of printable ASCII"),
        ("header", "A: b\nC", "header: expected Name: value, of printable ASCII"),
        ("header", "A: b\nHOST: c", "header: host is set by the queue itself"),
        (
            "proxy", "ftp://a.example",
            "proxy must be a URL of http, https, socks4, socks4a, socks5 or socks5h, or host:port"
        ),
    ].map { name, value, message in Case(.s3, ["url": bucket, name: value], message) }

    @Test(arguments: ["https://a.example/{id}", "https://a.example/up?name={sha256}"])
    func refusesAURLWithoutTheHashInItsPathWhenItIsGiven(_ url: String) {
        let error = #expect(throws: QueueError.self) { try DestinationSettings(.put, ["url": url]).examined(of: "it") }
        #expect(error?.code == .destinationSettings)
        #expect(error?.cause == .sharedURL)
    }

    @Test(arguments: ["ca", "cert", "cert-key", "key", "passphrase-file", "token-file"])
    func refusesAFileThatCannotBeRead(_ name: String) {
        let error = #expect(throws: QueueError.self) {
            try DestinationSettings(
                .http,
                [
                    "url": "https://a.example", "device-id": "7e57ab1e-0000-4000-8000-000000000051",
                    name: "/nonexistent/file",
                ]
            ).examined(of: "it")
        }
        #expect(error?.message.hasPrefix("\(name): /nonexistent/file cannot be read: ") ?? false, "\(error as Any)")
    }
}
