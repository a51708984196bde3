package import ArgumentParser
package import CaptureBundle
package import CaptureDevice
import CaptureNative
package import SystemPackage

package struct KeyOptions: ParsableArguments {
    package init() {}

    @Option(
        name: .customLong("key"), "The device key: a file, or a key in hardware as pkcs11:URI or handle:0xN.",
        discussion: "Default: CAPBUNDLE_KEY, else $XDG_DATA_HOME/capbundle/device.key.", value: "file",
        completion: .file())
    package var path: String?

    package var file: DeviceKeyFile { Environment.keyFile(path) }
}

/// The option `--passphrase-file`, for commands that decrypt or encrypt the key.
package struct PassphraseOptions: ParsableArguments {
    package init() {}

    @Option(
        "A file whose first line is the key's passphrase or PIN.", discussion: "Default: CAPBUNDLE_PASSPHRASE_FILE.",
        value: "file", completion: .file())
    package var passphraseFile: String?

    package var files: [FilePath] { PassphraseFile.path(passphraseFile).map { [$0] } ?? [] }

    /// The passphrase from the file if one is named, otherwise from the terminal when it is needed.
    ///
    /// - Parameter warn: Receives a warning if others can read the file.
    package func passphrase(warn: (BundleError) -> Void) throws(BundleError) -> Passphrase {
        if let bytes = try PassphraseFile.read(passphraseFile, warn: warn) { return .known(bytes) }
        return Passphrase { path in
            try PassphrasePrompt.read("\(HardwareKeyURI(path) == nil ? "Passphrase" : "PIN") of \(path): ")
        }
    }
}
