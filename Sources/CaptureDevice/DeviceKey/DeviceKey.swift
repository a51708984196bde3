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

extension BundleError.Cause {
    public static let noDeviceKey = Self("device.none")
    public static let passphraseNeeded = Self("device.passphrase")
    /// A file with a name of the new key exists: a key, a state with which a key signed, or another file.
    public static let keyExists = Self("device.exists")
    public static let usedStateExists = Self("device.exists.state")
    public static let keyNameTaken = Self("device.exists.name")
    public static let severalNames = Self("device.names")
    /// The key signs only for RealityCam, or only bundles.
    public static let forRealityCam = Self("device.realitycam")
    public static let forBundles = Self("device.bundles")

    // The value is the path of the key to which the file belongs.
    public static let halfLost = Self("device.half.lost")
    public static let otherHalf = Self("device.half.other")
    public static let otherState = Self("device.state.other")
    public static let counterLost = Self("device.counter.lost")
    /// A key in hardware has no state, since it never signed on this machine, or the state was lost.
    public static let counterNotHere = Self("device.counter.none")
    public static let linkLost = Self("device.link.lost")
}
