package import CaptureBundle
package import CaptureDevice
import CaptureNative
package import SystemPackage

/// The locations of files that the user did not name (Spec/command-line.md section 4).
package enum Environment {
    /// The key file: `--key`, else `CAPBUNDLE_KEY`, else the default path.
    package static func keyFile(_ option: String?) -> DeviceKeyFile {
        DeviceKeyFile(path: named(option, "CAPBUNDLE_KEY") ?? DeviceKeyFile.usualPath)
    }

    /// The key file for RealityCam: `--realitycam-key`, else `CAPBUNDLE_REALITYCAM_KEY`, else the default path.
    package static func realityCamKeyFile(_ option: String?) -> DeviceKeyFile {
        DeviceKeyFile(path: named(option, "CAPBUNDLE_REALITYCAM_KEY") ?? DeviceKeyFile.usualRealityCamPath)
    }

    private static func named(_ option: String?, _ variable: String) -> FilePath? {
        option.map { FilePath(file: $0) } ?? ProcessEnvironment.path(variable)
    }

    /// The path of the trust file: `--trust`, else `CAPBUNDLE_TRUST`, else
    /// `$XDG_CONFIG_HOME/capbundle/trusted_devices`.
    ///
    /// - Parameter warn: Receives a warning if the user named the file and others can change it.
    /// - Throws: `trust.open` if others can change the file at the default path.
    package static func trustPath(_ option: String?, warn: (BundleError) -> Void) throws(BundleError) -> FilePath {
        if let path = named(option, "CAPBUNDLE_TRUST") {
            FileAccess.exposure(ofTrustFile: path).map(warn)
            return path
        }
        let folder = ProcessEnvironment.folder("XDG_CONFIG_HOME", orInHome: ".config")
        let path = folder.appending("capbundle/trusted_devices")
        if let fault = FileAccess.exposure(ofTrustFile: path) { throw fault }
        return path
    }

    /// Unix time in milliseconds.
    package static var now: Int { WallClock.milliseconds }

    /// Reads the trust file. If the user named none and the default one does not exist, the result has no devices.
    ///
    /// - Throws: The errors of `trustPath` and of reading the file.
    package static func trustFile(_ option: String?, warn: (BundleError) -> Void) throws(BundleError) -> TrustFile {
        let path = try trustPath(option, warn: warn)
        let isOptional = named(option, "CAPBUNDLE_TRUST") == nil
        return isOptional && !AtomicFile.isThere(path) ? TrustFile() : try TrustFile(path: path)
    }
}
