package import ArgumentParser
package import CaptureBundle
package import SystemPackage

/// The option `--trust`.
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

    /// The path of the trust file for commands that change it. The file need not exist yet.
    ///
    /// - Throws: The errors of `Environment.trustPath`.
    package func pathToChange(warn: (BundleError) -> Void) throws(BundleError) -> FilePath {
        try Environment.trustPath(path, warn: warn)
    }
}
