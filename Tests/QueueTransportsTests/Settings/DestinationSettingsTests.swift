import CaptureBundle
import CurlClient
import QueueModel
import QueueTransports
import SystemPackage
import Testing

/// Flat text settings become typed values for each kind of destination.
struct DestinationSettingsTests {
    @Test func readsAFolder() throws {
        let settings = try DestinationSettings(.folder, ["path": "/mnt/nas", "marker": "a1", "bwlimit": "2MB"])
        guard case .folder(let folder) = settings else {
            Issue.record("\(settings)")
            return
        }
        #expect(folder.path == "/mnt/nas" && folder.marker == "a1")
        guard case .folder(let unmarked) = try DestinationSettings(.folder, ["path": "/mnt/nas"]) else { return }
        #expect(unmarked.marker == nil)
    }

    @Test func readsAServerOfTheCaptureAPI() throws {
        let id = "7e57ab1e-0000-4000-8000-000000000051"
        let http = try http([
            "url": "https://a.example/v2/{id}/in", "verify-url": "https://b.example/ask", "device-id": id,
            "key": "/keys/device.key", "passphrase-file": "/keys/words", "token-file": "/keys/token",
        ])
        #expect(http.endpoint.text == "https://a.example/v2/{id}/in")
        #expect(http.verify == WebAddress("https://b.example/ask") && http.device?.id == id)
        #expect(http.device?.keyFile == "/keys/device.key" && http.device?.passphraseFile == "/keys/words")
        #expect(http.token == .file("/keys/token"))
        let plain = try self.http(["url": "https://a.example/", "device-id": id, "token-command": "pass api"])
        #expect(plain.endpoint.text == "https://a.example/api/v1/captures")
        #expect(plain.verify == WebAddress("https://a.example/api/v1/verify-file") && plain.device?.keyFile == nil)
        #expect(plain.token == .command("pass api"))
        let silent = try self.http(["url": "https://a.example", "verify-url": "none"])
        #expect(silent.endpoint.text == "https://a.example/api/v1/captures" && silent.verify == nil)
        #expect(silent.device == nil && silent.token == nil)
    }

    @Test func readsAServerOfRealityCam() throws {
        let id = "7e57ab1e-0000-4000-8000-000000000051"
        let flat = ["url": "https://a.example", "profile": "realitycam", "device-id": id]
        let plain = try self.http(flat)
        #expect(plain.realityCam?.device.id == id && plain.realityCam?.device.keyFile == nil)
        #expect(plain.realityCam?.rpID == "XXXXXXXXXX.com.realitycam.app" && plain.realityCam?.hasAssertion == true)
        #expect(plain.device == nil)
        let own = ["realitycam-key": "/k", "passphrase-file": "/p", "rpid": "A.b", "assertion": "no"]
        let other = try self.http(flat.merging(own) { $1 })
        #expect(other.realityCam?.device.keyFile == "/k" && other.realityCam?.device.passphraseFile == "/p")
        #expect(other.realityCam?.rpID == "A.b" && other.realityCam?.hasAssertion == false)
        #expect(try self.http(["url": "https://a.example", "profile": "capture"]).realityCam == nil)
    }

    @Test func readsAPlaceToPutTo() throws {
        let put = try put([
            "url": "https://a.example/{sha256}", "part": "photo", "proof": "status", "token-command": "pass web",
            "session-end-url": "https://a.example/end/{session}",
        ])
        #expect(put.source == .url(URLTemplate("https://a.example/{sha256}")) && !put.sharesPlaces)
        #expect(put.part == .photo && put.trustsStatus && put.token == .command("pass web"))
        #expect(put.sessionEnd?.text == "https://a.example/end/{session}")
        let command = try self.put(["url-command": "sign-url"])
        #expect(command.source == .command("sign-url") && command.part == .bundle && !command.trustsStatus)
        #expect(command.sessionEnd == nil)
        let endpoint = try self.put(["url-endpoint": "https://a.example/sign", "part": "body"])
        #expect(endpoint.source == .endpoint(URLTemplate("https://a.example/sign")) && endpoint.part == .body)
        #expect(!endpoint.sharesPlaces)
        // An older version accepted this setting, so it is parsed; the transport blocks the destination.
        #expect(try self.put(["url": "https://a.example/{id}"]).sharesPlaces)
    }

    @Test func readsABucket() throws {
        let s3 = try s3([
            "url": "https://s3.example/roof", "region": "eu-1", "profile": "roof", "checksum": "md5", "condition": "no",
        ])
        #expect(s3.object.text == "https://s3.example/roof/{sha256}.bundle" && s3.region == "eu-1")
        #expect(s3.profile == "roof" && s3.checksum == .md5 && !s3.isConditional)
        let plain = try self.s3(["url": "https://s3.example/roof/{sha256}.cap"])
        #expect(plain.object.text == "https://s3.example/roof/{sha256}.cap" && plain.region == nil)
        #expect(plain.profile == nil && plain.checksum == .sha256 && plain.isConditional)
        #expect(try self.s3(["url": "https://s3.example/roof/", "checksum": "none"]).checksum == .none)
    }

    @Test func readsAConnection() throws {
        let connection = try s3([
            "url": "https://s3.example/roof", "ca": "/tls/ca", "cert": "/tls/cert", "cert-key": "/tls/key",
            "proxy": "socks5h://proxy.example:1080", "connect-timeout": "5s", "stall-timeout": "2m",
            "answer-timeout": "1h", "header": "X-Site: roof 7\nX-Two: b:c", "secret-path": "yes",
        ]).connection
        #expect(connection.options.authorities == "/tls/ca" && connection.options.certificate == "/tls/cert")
        #expect(connection.options.certificateKey == "/tls/key")
        #expect(connection.options.proxy == "socks5h://proxy.example:1080" && connection.options.times.connect == 5)
        #expect(connection.options.times.stall == 120 && connection.options.times.answer == 3600)
        #expect(
            connection.headers.map(\.name) == ["X-Site", "X-Two"]
                && connection.headers.map(\.value) == ["roof 7", "b:c"])
        #expect(connection.hidesPaths)
        let usual = try s3(["url": "https://s3.example/roof", "secret-path": "no"]).connection
        #expect(usual.options == ConnectionOptions() && usual.headers == [] && !usual.hidesPaths)
    }

    @Test func readsThePace() {
        let pace = destination(
            "put",
            [
                "concurrency": "4", "bwlimit": "2MB", "retry": "0,5x2", "jitter": "20%", "lifetime": "30d",
            ]
        ).pace
        #expect(pace.concurrency == 4 && pace.bytesPerSecond == 2_000_000)
        #expect(
            pace.retry
                == RetryPolicy(delays: [.zero, .seconds(5), .seconds(5)], jitter: 20, lifetime: .seconds(30 * 86_400)))
        let usual = destination("put", [:]).pace
        #expect(usual.concurrency == 1 && usual.bytesPerSecond == nil && usual.retry == .standard)
        #expect(destination("put", ["jitter": "5%"]).pace.retry.delays == RetryPolicy.standard.delays)
        // The transport blocks a destination whose settings cannot be read, and its pace is the default.
        #expect(destination("put", ["concurrency": "900"]).pace == usual)
    }

    @Test(arguments: ["http", "put", "s3", "folder", "carrier-pigeon"])
    func blocksADestinationWhoseSettingsCannotBeRead(_ kind: String) throws {
        let transport = TransportShares(.none).make(destination(kind, ["path": "/mnt", "url": "https://a.example/#x"]))
        {
            _ in
        }
        let test = transport.test(SendControl())
        let block = try #require(transport.absence)
        #expect(block.reason == .local && block.needsUser)
        #expect(block.message.hasPrefix("its settings cannot be used: "), "\(block.message)")
        #expect(test.block == block && transport.reach(SendControl()) == block)
    }

    /// What is stored is what was given, in the shortest form; usual values are left out.
    @Test(
        arguments: [
            (.folder, ["path": "/mnt/nas", "marker": "a1"]),
            (
                .http,
                [
                    "url": "https://a.example", "profile": "realitycam",
                    "device-id": "7e57ab1e-0000-4000-8000-000000000051",
                ]
            ),
            (
                .http,
                [
                    "url": "https://a.example", "verify-url": "none", "profile": "realitycam", "rpid": "A.b",
                    "device-id": "7e57ab1e-0000-4000-8000-000000000051", "realitycam-key": "/k", "assertion": "no",
                    "token-command": "pass api",
                ]
            ),
            (
                .http,
                [
                    "url": "https://a.example", "verify-url": "https://b.example", "key": "/k", "passphrase-file": "/p",
                    "device-id": "7e57ab1e-0000-4000-8000-000000000051", "token-file": "/t",
                ]
            ),
            (
                .put,
                [
                    "url": "https://a.example/{sha256}", "part": "body", "proof": "status",
                    "session-end-url": "https://b",
                ]
            ),
            (.put, ["url-command": "sign", "concurrency": "7", "bwlimit": "2MB", "retry": "0,5x2", "jitter": "20%"]),
            (.put, ["url-endpoint": "https://a.example/sign", "lifetime": "30d", "secret-path": "yes"]),
            (
                .s3,
                [
                    "url": "https://s3.example/b", "region": "eu-1", "profile": "roof", "checksum": "none",
                    "condition": "no", "ca": "/a", "cert": "/b", "cert-key": "/c", "proxy": "a.example:1080",
                    "connect-timeout": "5s", "stall-timeout": "2m", "answer-timeout": "1h", "header": "A: b\nC: d",
                ]
            ),
        ] as [(Destination.Kind, [String: String])])
    func writesWhatItReads(_ kind: Destination.Kind, _ texts: [String: String]) throws {
        #expect(try DestinationSettings(kind, texts).texts == texts)
        let usual = ["concurrency": "1", "bwlimit": "none", "jitter": "0%", "retry": "0,1,2,4,8,300x5"]
        #expect(try DestinationSettings(kind, usual.merging(texts) { $1 }).texts == texts)
    }

    /// A program can set values that no text gives.
    @Test func refusesValuesThatCannotBeStored() {
        var put = PutSettings(.url(URLTemplate("https://a.example/{sha256}")))
        put.connection.headers = ["Host: b"].compactMap { ConnectionSettings.Header($0) }
        #expect(throws: QueueError.self) { try DestinationSettings.put(put).examined(of: "it") }
        put.connection.headers = []
        put.pace.concurrency = 900
        #expect(throws: QueueError.self) { try DestinationSettings.put(put).examined(of: "it") }
        put.pace.concurrency = 9
        #expect(throws: Never.self) { try DestinationSettings.put(put).examined(of: "it") }
    }

    @Test func storesAProgramsTimesInWholeSeconds() {
        var put = PutSettings(.url(URLTemplate("https://a.example/{sha256}")))
        put.connection.stallTimeout = .milliseconds(1500)
        #expect(DestinationSettings.put(put).texts["stall-timeout"] == "2s")
        put.connection.stallTimeout = .seconds(Int64.max)
        #expect(DestinationSettings.put(put).texts["stall-timeout"] == "365250d")
    }

    @Test func keepsStoredSettingsThatItCannotRead() {
        for kind in ["http", "carrier-pigeon"] {
            var settings = DestinationSettings(stored: kind, ["colour": "red"])
            #expect(settings.kind == kind && settings.texts == ["colour": "red"])
            #expect(throws: QueueError.self) { try settings.set(["colour": "blue"]) }
        }
    }

    private func destination(_ kind: String, _ settings: [String: String]) -> Destination {
        Destination(
            name: "it", settings: DestinationSettings(stored: kind, settings), isDefault: true,
            addedAt: CaptureTime(clamping: 0),
            saved: .init(),
            isPaused: false, isPausedAtOnce: false, lifts: 0, number: 1)
    }

    private func http(_ flat: [String: String]) throws -> HTTPSettings {
        guard case .http(let settings) = try DestinationSettings(.http, flat) else { throw OtherKind() }
        return settings
    }

    private func put(_ flat: [String: String]) throws -> PutSettings {
        guard case .put(let settings) = try DestinationSettings(.put, flat) else { throw OtherKind() }
        return settings
    }

    private func s3(_ flat: [String: String]) throws -> S3Settings {
        guard case .s3(let settings) = try DestinationSettings(.s3, flat) else { throw OtherKind() }
        return settings
    }

    private struct OtherKind: Error {}
}
