import CaptureBundle
import CaptureNative
import QueueModel
import Synchronization
import SystemPackage

/// What transfers to one server of the capture API share.
final class CaptureAPIShared: Sendable {
    let tokens: TokenSource?
    /// Server's clock minus ours, in milliseconds: learnt when it refuses a timestamp.
    let offset = Mutex(0)
    private let device = Mutex<DeviceKey?>(nil)

    init(_ destination: Destination) { tokens = TokenSource(destination) }

    /// nil where the destination has no device; read once.
    func device(_ destination: Destination) throws(SendTrouble) -> (key: DeviceKey, id: String)? {
        guard let id = destination.settings["device-id"] else { return nil }
        if let known = device.withLock(\.self) { return (known, id) }
        let path = destination.settings["key"].map { FilePath($0) } ?? DeviceKeyFile.usualPath
        let passphrase = try destination.settings["passphrase-file"].map { file throws(SendTrouble) in
            try SecretFile.firstLine(FilePath(file))
        }
        do throws(BundleError) {
            let key = try DeviceKeyFile(path: path).load(passphrase: passphrase)
            device.withLock { $0 = key }
            return (key, id)
        } catch {
            throw SendTrouble(message: "the device key \(path): \(error.message)")
        }
    }
}
