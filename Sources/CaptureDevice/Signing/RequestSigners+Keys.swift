public import CaptureBundle
import SystemPackage

extension DeviceKey: RequestSigner {
    package func signature(
        of body: Digest, deviceID: String, timestamp: Int
    ) throws(BundleError) -> RequestSignature {
        try RequestSignature(body: body, deviceID: deviceID, timestamp: timestamp, device: self)
    }
}

extension RealityCamSigner: RealityCamRequestSigner {}

extension RequestSigners {
    /// Signers with the key files of this user.
    public static let keyFiles = RequestSigners(
        device: { path, passphrase throws(BundleError) in
            let path = path ?? DeviceKeyFile.usualPath
            return try named("the device key", path) { file throws(BundleError) in
                try file.load(passphrase.map { .known($0) } ?? .none)
            }
        },
        realityCam: { path, passphrase, rpID throws(BundleError) in
            let path = path ?? DeviceKeyFile.usualRealityCamPath
            return try named("the RealityCam key", path) { file throws(BundleError) in
                try RealityCamSigner(
                    file, passphrase: passphrase.map { .known($0) } ?? .none, rpID: rpID)
            }
        })

    /// The messages of transports name no file, so the message has to.
    private static func named<Key>(
        _ words: String, _ path: FilePath, _ load: (DeviceKeyFile) throws(BundleError) -> Key
    ) throws(BundleError) -> Key {
        let file = DeviceKeyFile(path: path)
        do { return try load(file) } catch {
            throw BundleError(
                error.code, "\(words) \(file.path): \(error.message)", file: file.path, cause: error.cause,
                values: error.values)
        }
    }
}
