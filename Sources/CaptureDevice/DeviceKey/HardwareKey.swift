public import CaptureBundle
import CaptureNative
import Synchronization
import SystemPackage

/// A key in hardware, which a process opens once: its PIN is asked for once, however many captures are signed.
final class HardwareKey: Sendable {
    let uri: HardwareKeyURI
    /// The public half and the key, once they were found.
    fileprivate let known = Mutex<(point: DevicePoint?, device: DeviceKey?)>((nil, nil))

    init(_ uri: HardwareKeyURI) { self.uri = uri }

    /// The path after which the other files of the key are named: its key id, beside the usual key. The caller has
    /// opened the key, or has found its public half.
    var place: FilePath {
        guard let point = known.withLock({ $0.point }) else { preconditionFailure("the key was not found before") }
        return DeviceKeyFile.usualPath.folder.appending(point.keyID.description)
    }
}

/// Keys in hardware (Spec/capture-bundle.md section 9.4).
extension DeviceKeyFile {
    /// Opens a key in hardware, because its other files are named after its key id. Nothing is done for a key in a file.
    func locate(_ passphrase: Passphrase) throws(BundleError) {
        if hardware != nil { _ = try load(passphrase) }
    }

    /// Opens the key, unless it is open.
    func open(_ hardware: HardwareKey, _ passphrase: Passphrase) throws(BundleError) -> DeviceKey {
        if let device = hardware.known.withLock({ $0.device }) { return device }
        return try native {
            var trouble: BundleError?
            do {
                let key = try P256PrivateKey.open(hardware.uri) {
                    do throws(BundleError) { return try passphrase.bytes(for: path) } catch {
                        trouble = error
                        return nil
                    }
                }
                let device = try DeviceKey(key)
                hardware.known.withLock { $0 = (device.point, device) }
                return device
            } catch let error as HardwareKeyFailure {
                throw trouble ?? unusable(hardware.uri, error)
            }
        }
    }

    /// The public half, which most hardware shows without a PIN.
    func publicHalf(_ hardware: HardwareKey) throws(BundleError) -> DevicePoint {
        if let point = hardware.known.withLock({ $0.point }) { return point }
        return try native {
            do {
                guard let found = try P256PublicKey.find(hardware.uri) else { return try open(hardware, .none).point }
                let point = try DevicePoint(bytes: found.point)
                hardware.known.withLock { $0.point = point }
                return point
            } catch let error as HardwareKeyFailure {
                throw unusable(hardware.uri, error)
            }
        }
    }

    /// Refuses what only the tools of the hardware can do.
    func refuseHardware(_ words: String, _ cause: BundleError.Cause? = nil) throws(BundleError) {
        if hardware != nil { throw fault(.outputUnusable, words, cause) }
    }

    private func unusable(_ uri: HardwareKeyURI, _ failure: HardwareKeyFailure) -> BundleError {
        let isToken = uri.kind == .token
        return switch failure {
        case .noProvider:
            fault(
                .keyMissing, "OpenSSL's provider \(uri.kind.provider), which finds such keys, is not installed",
                .noProvider)
        case .noModule: fault(.keyMissing, "the PKCS#11 module of the token cannot be loaded", .noModule)
        case .noPINFile: fault(.keyPassphrase, "the file that pin-source names cannot be read")
        case .noTPM: fault(.keyMissing, "the TPM cannot be reached", .noTPM)
        case .noHandle: fault(.keyMissing, "is not the handle of a key in a TPM, such as handle:0x81000010")
        case .noToken: fault(.keyMissing, "no token fits this URI", .noToken)
        case .noKey: fault(.keyMissing, "the TPM has no key with this handle")
        case .noKeyOrWrongPIN:
            fault(.keyMissing, "the token has no private key that fits this URI, or the PIN is wrong")
        case .pinNeeded where !uri.asksForPIN:
            fault(.keyPassphrase, "the key needs a PIN", .pinNotAskedFor)
        case .pinNeeded: fault(.keyPassphrase, "the key needs a PIN and none was given", .passphraseNeeded)
        case .wrongPIN:
            fault(.keyPassphrase, isToken ? "the token refuses the PIN: it is wrong or locked" : "the PIN is wrong")
        case .locked:
            fault(.keyPassphrase, "the TPM accepts no PIN for a while, after too many wrong ones", .pinLocked)
        case .severalKeys(let count):
            fault(.keyDamaged, "\(count) private keys fit this URI, expected one", .severalKeys)
        case .severalTokens(let count):
            fault(.keyDamaged, "\(count) tokens have a key that fits this URI, expected one", .noTokenNamed)
        case .noTokenNamed:
            fault(
                .keyMissing, "no token shows a key that fits this URI, so each token would get the PIN",
                .noTokenNamed)
        case .anotherType(let type):
            fault(.keyDamaged, "names an object with type=\(Visible.text(type)), expected type=private or no type")
        case .noPublicHalf: fault(.keyDamaged, "the token has no public key with the id of this private key")
        case .anotherKind(let kind):
            fault(.keyDamaged, "is a key of another kind (\(kind)), expected a private key on P-256")
        case .refused(let reason): fault(.keyDamaged, "the key cannot sign: \(reason)")
        case .native(let native): .unexpected(native)
        }
    }
}

extension BundleError.Cause {
    public static let madeInHardware = Self("hardware.made")
    public static let noProvider = Self("hardware.provider")
    public static let noModule = Self("hardware.module")
    public static let noTPM = Self("hardware.tpm")
    public static let noToken = Self("hardware.token")
    public static let noTokenNamed = Self("hardware.token.name")
    public static let severalKeys = Self("hardware.keys")
    /// The name of a key in a TPM does not say that the key has a PIN.
    public static let pinNotAskedFor = Self("hardware.pin")
    public static let pinLocked = Self("hardware.locked")
}
