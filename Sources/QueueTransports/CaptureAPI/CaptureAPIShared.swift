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
    private let device = Mutex<DeviceKey?>(nil)
    private let realityCam = Mutex<RealityCamSigner?>(nil)

    init(_ settings: CaptureAPISettings) { tokens = settings.token.map { TokenSource($0) } }

    /// Returns the signing key, which is read once.
    func key(_ settings: CaptureAPISettings.Device) throws(SendTrouble) -> DeviceKey {
        if let known = device.withLock(\.self) { return known }
        let path = settings.keyFile ?? DeviceKeyFile.usualPath
        let passphrase = try Self.passphrase(settings.passphraseFile)
        do throws(BundleError) {
            let key = try DeviceKeyFile(path: path).load(passphrase)
            device.withLock { $0 = key }
            return key
        } catch {
            throw SendTrouble(message: "the device key \(path): \(error.message)")
        }
    }

    /// Returns the signer for RealityCam, whose key is read once.
    func signer(_ settings: RealityCamSettings) throws(SendTrouble) -> RealityCamSigner {
        if let known = realityCam.withLock(\.self) { return known }
        let path = settings.keyFile ?? DeviceKeyFile.usualRealityCamPath
        let passphrase = try Self.passphrase(settings.passphraseFile)
        do throws(BundleError) {
            let signer = try RealityCamSigner(DeviceKeyFile(path: path), passphrase: passphrase, rpID: settings.rpID)
            realityCam.withLock { $0 = signer }
            return signer
        } catch {
            throw SendTrouble(message: "the RealityCam key \(path): \(error.message)")
        }
    }

    private static func passphrase(_ file: FilePath?) throws(SendTrouble) -> Passphrase {
        guard let file else { return .none }
        return .known(try SecretFile.firstLine(file))
    }
}
