import ArgumentParser
import CaptureBundle
import CaptureDevice
import CommandSupport

/// The server for which an upload is made (Spec/upload.md).
enum UploadProfile: String, ExpressibleByArgument, CaseIterable { case capture, realitycam }

/// The options `--profile`, `--realitycam-key` and `--rpid`.
struct ProfileOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The server: capture (a server of the upload contract) or realitycam.", valueName: "profile"))
    var profile: UploadProfile = .capture

    @Option(
        name: .customLong("realitycam-key"), "realitycam: the key that signs only for this server.",
        discussion: "Default: CAPBUNDLE_REALITYCAM_KEY, else $XDG_DATA_HOME/capbundle/realitycam.key.", value: "file",
        completion: .file())
    var realityCamKey: String?

    @Option(
        "realitycam: the app that the server expects, as team and bundle id.",
        discussion: "Default: \(RealityCamRPID.usual).", value: "team.bundle")
    var rpid: String?

    func validate() throws {
        if profile == .capture, realityCamKey != nil || rpid != nil {
            throw ValidationError("--realitycam-key and --rpid need --profile realitycam")
        }
    }

    func signer(_ passphrase: PassphraseOptions) throws -> RealityCamSigner {
        try RealityCamSigner(
            Environment.realityCamKeyFile(realityCamKey), passphrase: passphrase.passphrase(warn: diagnostic.warning),
            rpID: rpid ?? RealityCamRPID.usual)
    }
}
