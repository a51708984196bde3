public import SystemPackage

/// Where the passphrase of an encrypted key comes from.
public struct Passphrase: Sendable {
    private let ask: @Sendable (_ keyPath: FilePath) throws(BundleError) -> [UInt8]?

    /// - Parameter ask: called once, when a key at this path turns out to be encrypted; nil when there is none to give.
    public init(_ ask: @escaping @Sendable (_ keyPath: FilePath) throws(BundleError) -> [UInt8]?) { self.ask = ask }

    public static let none = Passphrase { _ in nil }

    /// A passphrase that is known already.
    public static func known(_ bytes: [UInt8]) -> Passphrase { Passphrase { _ in bytes } }

    func bytes(for keyPath: FilePath) throws(BundleError) -> [UInt8]? { try ask(keyPath) }
}
