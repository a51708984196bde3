import Foundation

#if canImport(CryptoKit)
    import CryptoKit
#else
    import Crypto
#endif

enum Hash {
    static func sha256(_ bytes: some DataProtocol) -> Data { Data(SHA256.hash(data: bytes)) }
    static func hmac(_ message: Data, secret: Data) -> Data {
        Data(HMAC<SHA256>.authenticationCode(for: message, using: SymmetricKey(data: secret)))
    }
    static func hex(_ bytes: Data) -> String { bytes.map { String(format: "%02x", $0) }.joined() }
}

/// A P-256 key of the app, in memory or in the Secure Enclave.
public struct DeviceKey: Sendable {
    public typealias Sign = @Sendable (Data) throws -> P256.Signing.ECDSASignature

    /// The uncompressed point, 65 bytes.
    public let publicKey: Data
    private let sign: Sign

    /// - Parameter sign: `{ try key.signature(for: $0) }`, for both kinds of keys.
    public init(_ key: P256.Signing.PublicKey, sign: @escaping Sign) {
        (publicKey, self.sign) = (key.x963Representation, sign)
    }

    /// The signature in DER. Both s and n − s are valid; this has the smaller one.
    func signature(of message: Data) throws -> Data {
        let raw = try sign(message).rawRepresentation
        let s = Array(raw.suffix(32))
        var (other, borrow) = (Self.order, 0)
        for index in s.indices.reversed() {
            let difference = Int(Self.order[index]) - Int(s[index]) - borrow
            (other[index], borrow) = (UInt8(truncatingIfNeeded: difference), difference < 0 ? 1 : 0)
        }
        let low = other.lexicographicallyPrecedes(s) ? other : s
        return try P256.Signing.ECDSASignature(rawRepresentation: raw.prefix(32) + low).derRepresentation
    }

    /// n, the order of P-256.
    private static let order: [UInt8] = [
        0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
        0xbc, 0xe6, 0xfa, 0xad, 0xa7, 0x17, 0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51,
    ]
}

extension Assertion {
    func isValid(_ clientDataHash: Data, publicKey: Data) -> Bool {
        guard let key = try? P256.Signing.PublicKey(x963Representation: publicKey),
            let signature = try? P256.Signing.ECDSASignature(derRepresentation: signature)
        else { return false }
        return key.isValidSignature(signature, for: Hash.sha256(authenticatorData + clientDataHash))
    }
}
