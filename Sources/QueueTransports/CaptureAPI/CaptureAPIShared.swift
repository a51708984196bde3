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

    init(_ settings: CaptureAPISettings) { tokens = settings.token.map { TokenSource($0) } }

    /// Returns the signing key, which is read once.
    func key(_ settings: CaptureAPISettings.Device) throws(SendTrouble) -> DeviceKey {
        if let known = device.withLock(\.self) { return known }
        let path = settings.keyFile ?? DeviceKeyFile.usualPath
        let passphrase = try settings.passphraseFile.map { file throws(SendTrouble) in try SecretFile.firstLine(file) }
        do throws(BundleError) {
            let key = try DeviceKeyFile(path: path).load(passphrase: passphrase)
            device.withLock { $0 = key }
            return key
        } catch {
            throw SendTrouble(message: "the device key \(path): \(error.message)")
        }
    }
}
