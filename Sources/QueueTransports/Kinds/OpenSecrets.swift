public import CaptureBundle
public import QueueModel
import SystemPackage

extension Destination {
    /// The errors for files with secrets of this destination that other users can read or write, each with a hint.
    ///
    /// They only cause a warning, because the user wrote the files. An exposed device key is refused on loading.
    public var openSecrets: [BundleError] {
        ((try? parsedSettings())?.secretFiles ?? []).compactMap { FileAccess.exposure(ofSecret: $0) }
    }
}

extension DestinationSettings {
    fileprivate var secretFiles: [FilePath] {
        switch self {
        case .folder: []
        case .http(let http):
            [
                http.token?.file, http.device?.passphraseFile, http.realityCam?.passphraseFile,
                http.connection.certificateKey,
            ].compactMap(\.self)
        case .put(let put): [put.token?.file, put.connection.certificateKey].compactMap(\.self)
        case .s3(let s3): [s3.connection.certificateKey, S3Credentials.file(s3)].compactMap(\.self)
        }
    }
}
