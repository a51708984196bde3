package import CaptureBundle
package import CaptureDevice
import CaptureNative
package import SystemPackage

/// The locations of files that the user did not name (Spec/command-line.md section 4).
package enum Environment {
    /// The key file: `--key`, else `CAPBUNDLE_KEY`, else the default path.
    package static func keyFile(_ option: String?) -> DeviceKeyFile {
        DeviceKeyFile(
            path: option.map { FilePath(file: $0) } ?? ProcessEnvironment.path("CAPBUNDLE_KEY")
                ?? DeviceKeyFile.usualPath)
    }

    /// The key file for RealityCam: `--realitycam-key`, else `CAPBUNDLE_REALITYCAM_KEY`, else the default path.
    package static func realityCamKeyFile(_ option: String?) -> DeviceKeyFile {
        DeviceKeyFile(
            path: option.map { FilePath(file: $0) } ?? ProcessEnvironment.path("CAPBUNDLE_REALITYCAM_KEY")
                ?? DeviceKeyFile.usualRealityCamPath)
    }

    /// The path of the trust file: `--trust`, else `CAPBUNDLE_TRUST`, else
    /// `$XDG_CONFIG_HOME/capbundle/trusted_devices`.
    ///
    /// - Parameter warn: Receives a warning if the user named the file and others can change it.
    /// - Throws: `trust.open` if others can change the file at the default path.
    package static func trustPath(_ option: String?, warn: (BundleError) -> Void) throws(BundleError) -> FilePath {
        if let path = namedTrustPath(option) {
            FileAccess.exposure(ofTrustFile: path).map(warn)
            return path
        }
        if let fault = FileAccess.exposure(ofTrustFile: usualTrustPath) { throw fault }
        return usualTrustPath
    }

    private static func namedTrustPath(_ option: String?) -> FilePath? {
        option.map { FilePath(file: $0) } ?? ProcessEnvironment.path("CAPBUNDLE_TRUST")
    }

    private static var usualTrustPath: FilePath {
        ProcessEnvironment.folder("XDG_CONFIG_HOME", orInHome: ".config").appending("capbundle/trusted_devices")
    }

    /// Unix time in milliseconds.
    package static var now: Int { WallClock.milliseconds }

    /// Reads the trust file. If the user named none and the default one does not exist, the result has no devices.
    ///
    /// - Throws: The errors of `trustPath` and of reading the file.
    package static func trustFile(_ option: String?, warn: (BundleError) -> Void) throws(BundleError) -> TrustFile {
        let path = try trustPath(option, warn: warn)
        let isOptional = namedTrustPath(option) == nil
        return isOptional && !FileStatus.exists(path) ? TrustFile() : try TrustFile(path: path)
    }
}
