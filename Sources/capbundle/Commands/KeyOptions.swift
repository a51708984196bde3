import ArgumentParser
import CaptureBundle
import CommandSupport

/// `--key` and `--passphrase-file`.
struct KeyOptions: ParsableArguments {
    @Option(
        name: .customLong("key"),
        help: ArgumentHelp(
            "The device key.", discussion: "Default: CAPBUNDLE_KEY, else $XDG_DATA_HOME/capbundle/device.key.",
            valueName: "file"),
        completion: .file())
    var path: String?

    var file: DeviceKeyFile { Environment.keyFile(path) }
}

/// For commands that open or seal the key.
struct PassphraseOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A file whose first line is the key's passphrase.", discussion: "Default: CAPBUNDLE_PASSPHRASE_FILE.",
            valueName: "file"),
        completion: .file())
    var passphraseFile: String?

    /// From the file where one is named, else from the terminal once it is needed.
    func passphrase() throws(BundleError) -> Passphrase {
        if let bytes = try PassphraseFile.read(passphraseFile) { return .known(bytes) }
        return Passphrase { path throws(BundleError) in try PassphrasePrompt.ask("Passphrase of \(path): ") }
    }
}

/// `--json`.
struct JSONOption: ParsableArguments {
    @Flag(help: "Print JSON instead of text.")
    var json = false
}

let diagnostic = Diagnostic(tool: CapbundleCommand.toolName)
