public import CaptureBundle
import CaptureNative
import SystemPackage

/// A device key in memory, ready to sign.
public struct DeviceKey: Sendable {
    let key: P256PrivateKey
    public let point: DevicePoint

    init(_ key: P256PrivateKey) throws(BundleError) {
        self.key = key
        point = try DevicePoint(bytes: key.publicKey.point)
    }

    /// The public key as SubjectPublicKeyInfo PEM.
    public func publicPEM() throws(BundleError) -> [UInt8] { try point.pem() }
}
