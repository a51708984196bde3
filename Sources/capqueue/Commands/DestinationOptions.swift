import ArgumentParser
import CaptureBundle
import CaptureDevice
import CaptureNative
import CaptureQueue
import CommandSupport
import SystemPackage

/// The options for the settings of destinations (Spec/queue.md section 12).
struct DestinationOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("folder: the folder that bundles are copied to.", valueName: "dir"), completion: .directory)
    var path: String?

    @Option(
        help: ArgumentHelp(
            "The URL; may hold {sha256}, {id} and {session}. put needs {sha256} in its path.", valueName: "url"))
    var url: String?

    @Option(help: ArgumentHelp("put: a shell command that prints the URL for each upload.", valueName: "command"))
    var urlCommand: String?

    @Option(help: ArgumentHelp("put: a server that answers a POST with the URL for each upload.", valueName: "url"))
    var urlEndpoint: String?

    @Option(
        help: ArgumentHelp("put: what is uploaded: bundle, photo or body.", valueName: "part"),
        completion: .list(["bundle", "photo", "body"]))
    var part: String?

    @Option(
        help: ArgumentHelp(
            "put, s3: give \"status\" if the server never lets an upload be read back; its 2xx then counts as proof.",
            valueName: "proof"), completion: .list(["status"]))
    var proof: String?

    @Option(help: ArgumentHelp("put: gets a POST when all of a session is uploaded.", valueName: "url"))
    var sessionEndURL: String?

    @Option(help: ArgumentHelp("http: the UUID that the server gave the device.", valueName: "uuid"))
    var deviceID: String?

    @Option(
        help: ArgumentHelp(
            "http: the device key that signs the requests: a file, or a key in hardware.", valueName: "file"),
        completion: .file())
    var key: String?

    @Option(
        help: ArgumentHelp("http: the file with the passphrase of the key.", valueName: "file"), completion: .file())
    var passphraseFile: String?

    @Option(
        help: ArgumentHelp(
            "http: where to look up whether an upload arrived; none to look up nothing.", valueName: "url"))
    var verifyURL: String?

    @Option(help: ArgumentHelp("http, put: the file with a bearer token.", valueName: "file"), completion: .file())
    var tokenFile: String?

    @Option(help: ArgumentHelp("http, put: a shell command that prints a bearer token.", valueName: "command"))
    var tokenCommand: String?

    @Option(help: ArgumentHelp("s3: the region.", valueName: "name"))
    var region: String?

    @Option(
        help: ArgumentHelp(
            "http: the server, capture (default) or realitycam; s3: the profile in the AWS files.", valueName: "name"))
    var profile: String?

    @Option(
        name: .customLong("realitycam-key"),
        help: ArgumentHelp(
            "http, realitycam: the key that signs only for this server.", valueName: "file"),
        completion: .file())
    var realityCamKey: String?

    @Option(
        help: ArgumentHelp(
            "http, realitycam: the app that the server expects, as team and bundle id.", valueName: "team.bundle"))
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
        help: ArgumentHelp("s3: the checksum header to send: sha256 (default), md5 or none.", valueName: "kind"),
        completion: .list(["sha256", "md5", "none"]))
    var checksum: String?

    @Flag(
        inversion: .prefixedNo,
        help: "s3: send If-None-Match (default); --no-condition sends a HEAD request first instead.")
    var condition: Bool?

    @Flag(inversion: .prefixedNo, help: "Never show the path of the URL, because it is a secret.")
    var secretPath: Bool?

    @Option(
        help: ArgumentHelp("Trust these certificate authorities instead of the system's.", valueName: "file"),
        completion: .file())
    var ca: String?

    @Option(help: ArgumentHelp("The client certificate for TLS.", valueName: "file"), completion: .file())
    var cert: String?

    @Option(help: ArgumentHelp("The key of the client certificate.", valueName: "file"), completion: .file())
    var certKey: String?

    @Option(help: ArgumentHelp("Use this proxy instead of that in the environment.", valueName: "url"))
    var proxy: String?

    @Option(help: ArgumentHelp("The number of transfers at a time (default: 1).", valueName: "n"))
    var concurrency: String?

    @Option(help: ArgumentHelp("Send at most this many bytes a second, such as 2MB, or none.", valueName: "bytes"))
    var bwlimit: String?

    @Option(
        help: ArgumentHelp(
            "The seconds to wait before each attempt.", discussion: "Default: 0,1,2,4,8,300x5", valueName: "list"))
    var retry: String?

    @Option(help: ArgumentHelp("Lengthen delays at random by up to this share, such as 20%.", valueName: "share"))
    var jitter: String?

    @Option(help: ArgumentHelp("Give up when this much time has passed since the push.", valueName: "age"))
    var lifetime: String?

    @Option(help: ArgumentHelp("Give up connecting after this time (default: 15s).", valueName: "age"))
    var connectTimeout: String?

    @Option(help: ArgumentHelp("Give up when no byte moves for this time (default: 60s).", valueName: "age"))
    var stallTimeout: String?

    @Option(help: ArgumentHelp("Give up when the answer takes longer (default: 120s).", valueName: "age"))
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
        } catch {
            return error.code == .keyDamaged ? error : nil
        }
        return nil
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
