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
        device: { path, passphrase in
            let path = path ?? DeviceKeyFile.usualPath
            return try named("the device key", path) { file in
                try file.load(passphrase.map { .known($0) } ?? .none)
            }
        },
        realityCam: { path, passphrase, rpID in
            let path = path ?? DeviceKeyFile.usualRealityCamPath
            return try named("the RealityCam key", path) { file in
                try RealityCamSigner(file, passphrase: passphrase.map { .known($0) } ?? .none, rpID: rpID)
            }
        })

    /// The messages of transports name no file, so the message has to.
    private static func named<Key>(
        _ words: String, _ path: FilePath, _ load: (DeviceKeyFile) throws -> Key
    ) throws -> Key {
        let file = DeviceKeyFile(path: path)
        do { return try native { try load(file) } } catch {
            throw BundleError(
                error.code, "\(words) \(file.path): \(error.message)", file: file.path, cause: error.cause,
                values: error.values)
        }
    }
}
