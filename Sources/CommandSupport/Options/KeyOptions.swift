package import ArgumentParser
package import CaptureBundle

/// `--key` and `--passphrase-file`.
package struct KeyOptions: ParsableArguments {
    package init() {}

    @Option(
        name: .customLong("key"),
        help: ArgumentHelp(
            "The device key.", discussion: "Default: CAPBUNDLE_KEY, else $XDG_DATA_HOME/capbundle/device.key.",
            valueName: "file"),
        completion: .file())
    package var path: String?

    package var file: DeviceKeyFile { Environment.keyFile(path) }
}

/// For commands that open or seal the key.
package struct PassphraseOptions: ParsableArguments {
    package init() {}

    @Option(
        help: ArgumentHelp(
            "A file whose first line is the key's passphrase.", discussion: "Default: CAPBUNDLE_PASSPHRASE_FILE.",
            valueName: "file"),
        completion: .file())
    package var passphraseFile: String?

    /// From the file where one is named, else from the terminal once it is needed.
    ///
    /// - Parameter warn: gets a file that others can read.
    package func passphrase(warn: (BundleError) -> Void) throws(BundleError) -> Passphrase {
        if let bytes = try PassphraseFile.read(passphraseFile, warn: warn) { return .known(bytes) }
        return Passphrase { path throws(BundleError) in try PassphrasePrompt.ask("Passphrase of \(path): ") }
    }
}
