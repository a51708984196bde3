import ArgumentParser
import CaptureBundle
import CaptureDevice
import CaptureNative
import CaptureQueue
import CommandSupport
import SystemPackage

/// The options for the settings of destinations (Spec/queue.md section 12).
struct DestinationOptions: ParsableArguments {
    @Option("folder: the folder that bundles are copied to.", value: "dir", completion: .directory)
    var path: String?

    @Option("The URL; may hold {sha256}, {id} and {session}. put needs {sha256} in its path.", value: "url")
    var url: String?

    @Option("put: a shell command that prints the URL for each upload.", value: "command")
    var urlCommand: String?

    @Option("put: a server that answers a POST with the URL for each upload.", value: "url")
    var urlEndpoint: String?

    @Option(
        "put: what is uploaded: bundle, photo or body.", value: "part", completion: .list(["bundle", "photo", "body"]))
    var part: String?

    @Option(
        "put, s3: give \"status\" if the server never lets an upload be read back; its 2xx then counts as proof.",
        value: "proof", completion: .list(["status"]))
    var proof: String?

    @Option("put: gets a POST when all of a session is uploaded.", value: "url")
    var sessionEndURL: String?

    @Option("http: the UUID that the server gave the device.", value: "uuid")
    var deviceID: String?

    @Option(
        "http: the device key that signs the requests: a file, or a key in hardware.", value: "file",
        completion: .file())
    var key: String?

    @Option("http: the file with the passphrase of the key.", value: "file", completion: .file())
    var passphraseFile: String?

    @Option("http: where to look up whether an upload arrived; none to look up nothing.", value: "url")
    var verifyURL: String?

    @Option("http, put: the file with a bearer token.", value: "file", completion: .file())
    var tokenFile: String?

    @Option("http, put: a shell command that prints a bearer token.", value: "command")
    var tokenCommand: String?

    @Option("s3: the region.", value: "name")
    var region: String?

    @Option("http: the server, capture (default) or realitycam; s3: the profile in the AWS files.", value: "name")
    var profile: String?

    @Option(
        name: .customLong("realitycam-key"), "http, realitycam: the key that signs only for this server.",
        value: "file", completion: .file())
    var realityCamKey: String?

    @Option("http, realitycam: the app that the server expects, as team and bundle id.", value: "team.bundle")
    var rpid: String?

    /// Whether uploads to RealityCam carry an assertion.
    enum AssertionChoice: EnumerableFlag {
        case withAssertion, withoutAssertion

        static func help(for value: AssertionChoice) -> ArgumentHelp? {
            value == .withAssertion
                ? "http, realitycam: send an assertion (default)."
                : "http, realitycam: send no assertion, for a device whose level is not secure_enclave."
        }
    }

    @Flag
    var assertion: AssertionChoice?

    @Option(
        "s3: the checksum header to send: sha256 (default), md5 or none.", value: "kind",
        completion: .list(["sha256", "md5", "none"]))
    var checksum: String?

    @Flag(
        inversion: .prefixedNo,
        help: "s3: send If-None-Match (default); --no-condition sends a HEAD request first instead.")
    var condition: Bool?

    @Flag(inversion: .prefixedNo, help: "Never show the path of the URL, because it is a secret.")
    var secretPath: Bool?

    @Option("Trust these certificate authorities instead of the system's.", value: "file", completion: .file())
    var ca: String?

    @Option("The client certificate for TLS.", value: "file", completion: .file())
    var cert: String?

    @Option("The key of the client certificate.", value: "file", completion: .file())
    var certKey: String?

    @Option("Use this proxy instead of that in the environment.", value: "url")
    var proxy: String?

    @Option("The number of transfers at a time (default: 1).", value: "n")
    var concurrency: String?

    @Option("Send at most this many bytes a second, such as 2MB, or none.", value: "bytes")
    var bwlimit: String?

    @Option("The seconds to wait before each attempt.", discussion: "Default: 0,1,2,4,8,300x5", value: "list")
    var retry: String?

    @Option("Lengthen delays at random by up to this share, such as 20%.", value: "share")
    var jitter: String?

    @Option("Give up when this much time has passed since the push.", value: "age")
    var lifetime: String?

    @Option("Give up connecting after this time (default: 15s).", value: "age")
    var connectTimeout: String?

    @Option("Give up when no byte moves for this time (default: 60s).", value: "age")
    var stallTimeout: String?

    @Option("Give up when the answer takes longer (default: 120s).", value: "age")
    var answerTimeout: String?

    @Option(
        help: ArgumentHelp("Send this header with each request: 'Name: value'; can be repeated.", valueName: "line"))
    var header: [String] = []

    /// The error for a device key that is a public key or another file, which no run could use; nil for other keys. A key in
    /// hardware is not opened, since that may count as a trial with a wrong PIN.
    var keyFault: BundleError? {
        guard let key = key ?? realityCamKey, !key.isEmpty, HardwareKeyURI(FilePath(key)) == nil else { return nil }
        do {
            _ = try DeviceKeyFile(path: FilePath(file: key)).load(passphrase: nil)
            return nil
        } catch {
            return error.code == .keyDamaged ? error : nil
        }
    }

    private static func flag(_ value: Bool?) -> String? { value.map { $0 ? "yes" : "no" } }

    /// The given settings, by their names in the queue.
    var given: [String: String] {
        let settings: [String: String?] = [
            "path": path, "url": url, "url-command": urlCommand, "url-endpoint": urlEndpoint, "part": part,
            "session-end-url": sessionEndURL, "device-id": deviceID, "key": key, "passphrase-file": passphraseFile,
            "verify-url": verifyURL, "token-file": tokenFile, "token-command": tokenCommand, "region": region,
            "profile": profile, "realitycam-key": realityCamKey, "rpid": rpid,
            "assertion": Self.flag(assertion.map { $0 == .withAssertion }), "proof": proof, "checksum": checksum,
            "condition": Self.flag(condition), "secret-path": Self.flag(secretPath), "ca": ca, "cert": cert,
            "cert-key": certKey, "proxy": proxy, "concurrency": concurrency, "bwlimit": bwlimit, "retry": retry,
            "jitter": jitter, "lifetime": lifetime, "connect-timeout": connectTimeout, "stall-timeout": stallTimeout,
            "answer-timeout": answerTimeout, "header": header.isEmpty ? nil : header.joined(separator: "\n"),
        ]
        return settings.compactMapValues(\.self)
    }
}
