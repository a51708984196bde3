import ArgumentParser
import CommandSupport

/// `--trust`.
struct TrustOptions: ParsableArguments {
    @Option(
        name: .customLong("trust"),
        help: ArgumentHelp(
            "The trust file.",
            discussion: "Default: CAPBUNDLE_TRUST, else $XDG_CONFIG_HOME/capbundle/trusted_devices.",
            valueName: "file"),
        completion: .file())
    var path: String?

    /// The file to change, made where it is missing.
    var pathToChange: String { Environment.explicitTrustPath(path) ?? Environment.usualTrustPath }
}
