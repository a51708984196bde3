package import ArgumentParser
package import SystemPackage

/// `--trust`.
package struct TrustOptions: ParsableArguments {
    package init() {}

    @Option(
        name: .customLong("trust"),
        help: ArgumentHelp(
            "The trust file.",
            discussion: "Default: CAPBUNDLE_TRUST, else $XDG_CONFIG_HOME/capbundle/trusted_devices.",
            valueName: "file"),
        completion: .file())
    package var path: String?

    /// The file to change, made where it is missing.
    package var pathToChange: FilePath { Environment.explicitTrustPath(path) ?? Environment.usualTrustPath }
}
