import CaptureBundle
import CaptureNative
import QueueModel
import Synchronization
import SystemPackage

/// The state that all transfers to one destination share.
final class DestinationShare: Sendable {
    let digests: KnownDigests
    let tokens: TokenSource?
    /// The server's clock minus ours in milliseconds, learnt when the server refuses a timestamp.
    let offset = Mutex(0)
    private let signers: RequestSigners
    private let device = Mutex<(any RequestSigner)?>(nil)
    private let realityCam = Mutex<(any RealityCamRequestSigner)?>(nil)

    init(_ traits: DigestTraits, _ token: TokenSettings?, _ signers: RequestSigners) {
        digests = KnownDigests(traits)
        tokens = token.map { TokenSource($0) }
        self.signers = signers
    }

    /// Returns the signer of a device, whose key is read once.
    func signer(_ settings: HTTPSettings.Device) throws -> any RequestSigner {
        try device.withLock { known in
            let signer = try known ?? signers.device(settings.keyFile, Self.passphrase(of: settings))
            known = signer
            return signer
        }
    }

    /// Returns the signer for RealityCam, whose key is read once.
    func signer(_ settings: HTTPSettings.RealityCam) throws -> any RealityCamRequestSigner {
        try realityCam.withLock { known in
            let device = settings.device
            let signer = try known ?? signers.realityCam(device.keyFile, Self.passphrase(of: device), settings.rpID)
            known = signer
            return signer
        }
    }

    private static func passphrase(of settings: HTTPSettings.Device) throws -> [UInt8]? {
        try settings.passphraseFile.map(SecretFile.firstLine)
    }
}
