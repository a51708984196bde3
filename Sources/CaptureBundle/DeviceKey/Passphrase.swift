public import SystemPackage

/// Provides the passphrase of an encrypted key.
public struct Passphrase: Sendable {
    private let ask: @Sendable (_ keyPath: FilePath) throws(BundleError) -> [UInt8]?

    /// - Parameter ask: Called once if the key at this path is encrypted. It returns nil if there is no passphrase.
    public init(_ ask: @escaping @Sendable (_ keyPath: FilePath) throws(BundleError) -> [UInt8]?) { self.ask = ask }

    public static let none = Passphrase { _ in nil }

    /// Provides a passphrase that is known already.
    public static func known(_ bytes: [UInt8]) -> Passphrase { Passphrase { _ in bytes } }

    func bytes(for keyPath: FilePath) throws(BundleError) -> [UInt8]? { try ask(keyPath) }
}
