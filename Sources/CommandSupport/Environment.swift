package import CaptureBundle
import CaptureNative
package import SystemPackage

/// Where things are when the user does not say (Spec/command-line.md section 4).
package enum Environment {
    /// `--key`, else `CAPBUNDLE_KEY`, else the usual place.
    package static func keyFile(_ option: String?) -> DeviceKeyFile {
        DeviceKeyFile(
            path: option.map { FilePath(file: $0) } ?? ProcessEnvironment.path("CAPBUNDLE_KEY")
                ?? DeviceKeyFile.usualPath)
    }

    /// `--trust`, else `CAPBUNDLE_TRUST`, else `$XDG_CONFIG_HOME/capbundle/trusted_devices`.
    ///
    /// - Parameter warn: gets what others can do with a file that the user named.
    /// - Throws: `trust.open` when others can change the usual one.
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

    /// The trust file; where none was named and the usual one is not there, one that names nobody.
    ///
    /// - Throws: as `trustPath`, and what reading it throws.
    package static func trustFile(_ option: String?, warn: (BundleError) -> Void) throws(BundleError) -> TrustFile {
        let path = try trustPath(option, warn: warn)
        let isOptional = namedTrustPath(option) == nil
        return isOptional && !FileStatus.exists(path) ? TrustFile() : try TrustFile(path: path)
    }
}
