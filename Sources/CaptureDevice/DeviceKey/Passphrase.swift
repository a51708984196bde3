import CaptureBundle
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
