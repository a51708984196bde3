import QueueModel
import QueueTransports
import Testing

/// Settings that cannot work are refused, and the error says what was expected.
struct RefusedSettingsTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let kind: Destination.Kind
        let settings: [String: String]
        let message: String

        init(_ kind: Destination.Kind, _ settings: [String: String], _ message: String) {
            self.kind = kind
            self.settings = settings
            self.message = message
        }

        var testDescription: String { "\(kind.rawValue), \(message)" }
    }

    @Test(arguments: Self.ofKinds + Self.ofURLs + Self.ofPace + Self.ofConnections)
    func refuses(_ refused: Case) {
        let fault = #expect(throws: SettingsFault.self) {
            try DestinationSettings(refused.settings, refused.kind)
        }
        #expect(fault?.message == refused.message)
        let error = #expect(throws: QueueError.self) {
            try DestinationSettings.examined(refused.settings, refused.kind, of: "it")
        }
        #expect(error?.code == .destinationSettings)
        #expect(error?.message == refused.message)
    }

    private static let bucket = "https://s3.example/roof"

    private static let ofKinds = [
        Case(.folder, [:], "folder needs --path"),
        Case(.folder, ["path": ""], "path is empty"),
        Case(.folder, ["path": "/mnt", "url": bucket], "folder has no setting url"),
        Case(.http, [:], "http needs --url"),
        Case(.http, ["url": bucket, "device-id": "7"], "device-id is not a UUID; the server gave the device one"),
        Case(.http, ["url": bucket, "key": "/k"], "a key needs --device-id, the UUID that the server gave the device"),
        Case(
            .http, ["url": bucket, "passphrase-file": "/k"],
            "a key needs --device-id, the UUID that the server gave the device"),
        Case(
            .http, ["url": bucket, "token-file": "/t", "token-command": "pass"],
            "a token comes from a file or a command, not from both"),
        Case(.http, ["url": bucket, "part": "photo"], "http has no setting part"),
        Case(.put, [:], "put needs one of --url, --url-command and --url-endpoint"),
        Case(
            .put, ["url": "https://a.example/{sha256}", "url-command": "sign"],
            "put needs one of --url, --url-command and --url-endpoint"),
        Case(.put, ["url-command": "sign", "proof": "trust"], "proof is status, or not set"),
        Case(.put, ["url-command": "sign", "part": "depth"], "part is bundle, photo or body"),
        Case(
            .put, ["url-command": "sign", "token-file": "/t", "token-command": "pass"],
            "a token comes from a file or a command, not from both"),
        Case(.put, ["url-command": "sign", "key": "/k"], "put has no setting key"),
        Case(.s3, [:], "s3 needs --url, with the bucket: https://host/bucket"),
        Case(.s3, ["url": bucket, "checksum": "crc32"], "checksum is sha256, md5 or none"),
        Case(.s3, ["url": bucket, "condition": "maybe"], "condition is yes or no"),
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
            ("https://a.example/b#c", "a fragment (#) is never sent; leave it out"),
            (
                "https://me:word@a.example/b",
                "user and password do not belong in a URL, which is shown; use a token file"
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
            ("concurrency", "0", "concurrency is 1 to 64"), ("concurrency", "65", "concurrency is 1 to 64"),
            ("concurrency", "two", "concurrency is 1 to 64"), ("bwlimit", "0", "bwlimit is a size, such as 2MB"),
            ("bwlimit", "fast", "bwlimit is a size, such as 2MB"),
            (
                "retry", "soon",
                "retry is a list of seconds, such as 0,1,2,4,8,300x5: 1 to 100, each at most 604800"
            ),
            ("jitter", "101%", "jitter is 0% to 100%"), ("jitter", "20", "jitter is 0% to 100%"),
            ("lifetime", "long", "lifetime is an age, such as 30d"), ("retry", "", "retry is empty"),
        ].map { name, value, message in Case(kind, [name: value], message) }
    }

    private static let ofConnections = [
        ("connect-timeout", "0s", "connect-timeout is an age of 1s or more"),
        ("stall-timeout", "soon", "stall-timeout is an age of 1s or more"),
        ("answer-timeout", "5", "answer-timeout is an age of 1s or more"),
        ("secret-path", "maybe", "secret-path is yes or no"), ("ca", "", "ca is empty"),
        ("header", "nothing", "header: expected Name: value, of printable ASCII"),
        ("header", "A: b\nC", "header: expected Name: value, of printable ASCII"),
        ("header", "A: b\nHOST: c", "header: capqueue sets host itself"),
        (
            "proxy", "ftp://a.example",
            "proxy is a URL of http, https, socks4, socks4a, socks5 or socks5h, or host:port"
        ),
    ].map { name, value, message in Case(.s3, ["url": bucket, name: value], message) }

    @Test func refusesAURLWithoutTheHashWhenItIsGiven() {
        let error = #expect(throws: QueueError.self) {
            try DestinationSettings.examined(["url": "https://a.example/{id}"], .put, of: "it")
        }
        #expect(error?.code == .destinationSettings)
        #expect(error?.hints == ["add {sha256} to it, for example {id}-{sha256}.bundle"])
    }

    @Test(arguments: ["ca", "cert", "cert-key", "key", "passphrase-file", "token-file"])
    func refusesAFileThatCannotBeRead(_ name: String) {
        let error = #expect(throws: QueueError.self) {
            try DestinationSettings.examined(
                [
                    "url": "https://a.example", "device-id": "7e57ab1e-0000-4000-8000-000000000051",
                    name: "/nonexistent/file",
                ], .http, of: "it")
        }
        #expect(error?.message.hasPrefix("\(name): /nonexistent/file cannot be read: ") ?? false, "\(error as Any)")
    }
}
