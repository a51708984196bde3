package import CaptureBundle
import CaptureNative
package import SystemPackage

/// Where things are when the user does not say (Spec/command-line.md section 4).
package enum Environment {
    /// `--key`, else `CAPBUNDLE_KEY`, else the usual place.
    package static func keyFile(_ option: String?) -> DeviceKeyFile {
        DeviceKeyFile(
            path: option.map { FilePath($0) } ?? ProcessEnvironment.path("CAPBUNDLE_KEY") ?? DeviceKeyFile.usualPath)
    }

    /// `--trust`, else `CAPBUNDLE_TRUST`; nil when neither is given.
    package static func explicitTrustPath(_ option: String?) -> FilePath? {
        option.map { FilePath($0) } ?? ProcessEnvironment.path("CAPBUNDLE_TRUST")
    }

    /// `$XDG_CONFIG_HOME/capbundle/trusted_devices`
    package static var usualTrustPath: FilePath {
        let base = ProcessEnvironment.path("XDG_CONFIG_HOME") ?? ProcessEnvironment.home.appending(".config")
        return base.appending("capbundle/trusted_devices")
    }

    /// Unix time in milliseconds.
    package static var now: Int { WallClock.milliseconds }

    /// The trust file; where none was named and the usual one is not there, one that names nobody.
    package static func trustFile(_ option: String?) throws(BundleError) -> TrustFile {
        if let path = explicitTrustPath(option) { return try TrustFile(path: path) }
        return FileStatus.exists(usualTrustPath) ? try TrustFile(path: usualTrustPath) : TrustFile()
    }
}
