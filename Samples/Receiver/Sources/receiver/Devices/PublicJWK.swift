import Foundation

/// A public key as a JSON Web Key (RFC 7517), as `capbundle key public --format jwk` prints it.
struct PublicJWK: Decodable {
    let kty: String
    let crv: String
    let x: String
    let y: String

    /// The uncompressed point: 0x04, then 32 bytes each of x and y; nil for another kind of key.
    var point: Data? {
        guard kty == "EC", crv == "P-256", let x = Self.coordinate(x), let y = Self.coordinate(y) else { return nil }
        return [0x04] + x + y
    }

    /// Decodes base64url without padding (RFC 7515 section 2).
    private static func coordinate(_ text: String) -> Data? {
        let base64 = text.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            default: byte
            }
        }
        guard base64.count == 43, let bytes = Data(base64Encoded: Data(base64 + [UInt8(ascii: "=")])), bytes.count == 32
        else { return nil }
        return bytes
    }
}
