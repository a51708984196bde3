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
        try Self.signer(settings, device) { [signers] passphrase in
            try signers.device(settings.keyFile, passphrase)
        }
    }

    /// Returns the signer for RealityCam, whose key is read once.
    func signer(_ settings: HTTPSettings.RealityCam) throws -> any RealityCamRequestSigner {
        try Self.signer(settings.device, realityCam) { [signers] passphrase in
            try signers.realityCam(settings.device.keyFile, passphrase, settings.rpID)
        }
    }

    private static func signer<Signer: Sendable>(
        _ settings: HTTPSettings.Device, _ known: borrowing Mutex<Signer?>,
        _ make: ([UInt8]?) throws -> Signer
    ) throws -> Signer {
        if let known = known.withLock(\.self) { return known }
        let passphrase = try settings.passphraseFile.map(SecretFile.firstLine)
        let signer = try make(passphrase)
        known.withLock { $0 = signer }
        return signer
    }
}
