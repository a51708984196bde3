import CaptureBundle
import CaptureNative
import QueueModel
import Synchronization
import SystemPackage

/// The state that all transfers to one server of the capture API share.
final class CaptureAPIShared: Sendable {
    let tokens: TokenSource?
    /// The server's clock minus ours in milliseconds, learnt when the server refuses a timestamp.
    let offset = Mutex(0)
    private let signers: RequestSigners
    private let device = Mutex<(any RequestSigner)?>(nil)
    private let realityCam = Mutex<(any RealityCamRequestSigner)?>(nil)

    init(_ settings: HTTPSettings, _ signers: RequestSigners) {
        tokens = settings.token.map { TokenSource($0) }
        self.signers = signers
    }

    /// Returns the signer of a device, whose key is read once.
    func signer(_ settings: HTTPSettings.Device) throws(SendTrouble) -> any RequestSigner {
        if let known = device.withLock(\.self) { return known }
        let passphrase = try settings.passphraseFile.map(SecretFile.firstLine)
        do throws(BundleError) {
            let signer = try signers.device(settings.keyFile, passphrase)
            device.withLock { $0 = signer }
            return signer
        } catch {
            throw SendTrouble(message: error.message)
        }
    }

    /// Returns the signer for RealityCam, whose key is read once.
    func signer(_ settings: HTTPSettings.RealityCam) throws(SendTrouble) -> any RealityCamRequestSigner {
        if let known = realityCam.withLock(\.self) { return known }
        let passphrase = try settings.device.passphraseFile.map(SecretFile.firstLine)
        do throws(BundleError) {
            let signer = try signers.realityCam(settings.device.keyFile, passphrase, settings.rpID)
            realityCam.withLock { $0 = signer }
            return signer
        } catch {
            throw SendTrouble(message: error.message)
        }
    }
}
