package import CaptureBundle
import CaptureNative
public import SystemPackage

/// Provides the passphrase of an encrypted key.
public struct Passphrase: Sendable {
    private let ask: @Sendable (_ keyPath: FilePath) throws -> [UInt8]?

    /// - Parameter ask: Gets the path of an encrypted key and returns its passphrase, or nil if there is none. It is
    ///   called at most once.
    public init(_ ask: @escaping @Sendable (_ keyPath: FilePath) throws -> [UInt8]?) { self.ask = ask }

    public static let none = Passphrase { _ in nil }

    /// Provides a passphrase that is known already.
    public static func known(_ bytes: [UInt8]) -> Passphrase { Passphrase { _ in bytes } }

    func bytes(for keyPath: FilePath) throws(BundleError) -> [UInt8]? { try native { try ask(keyPath) } }
}

/// Changes the passphrase of a key.
extension DeviceKeyFile {
    /// Encrypts the key with another passphrase. The old file stays until the new one is synced and takes its name, so
    /// the key is never missing. The state and the public half do not change.
    ///
    /// - Parameters:
    ///   - old: Opens the key, if it is encrypted.
    ///   - new: Gets the new passphrase, after the old one has opened the key; nil stores the key unencrypted.
    /// - Throws: The errors of `load` and of `new`; `key.state` if the key has several names; `output.unusable`, also for
    ///   a key in hardware; `io.failed`.
    package func changePassphrase(
        _ old: Passphrase, to new: () throws -> [UInt8]?
    ) throws(BundleError) {
        try refuseHardware("the PIN of a key in hardware is changed with the tools of the hardware")
        let before = try readPrivate(path)
        let device = try load(old)
        // A rename would leave the other names with the old passphrase.
        try refuseSecondName()
        let passphrase = try native { try new() }
        let pem = try native { try device.key.pem(passphrase: passphrase) }
        try locked {
            guard try readPrivate(path) == before else {
                throw fault(.keyState, "was changed by another process meanwhile; nothing was written")
            }
            try refuseSecondName()
            try write(pem, to: realPath, mode: 0o600, .replace)
        }
    }
}
