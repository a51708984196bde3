import Foundation

/// The signature of a manifest: assertion.cbor (Spec/capture-bundle.md section 9).
struct Assertion {
    let signature: Data
    let authenticatorData: Data

    private static let start = Data([0xa2, 0x69]) + Data("signature".utf8)
    private static let middle = Data([0x71]) + Data("authenticatorData".utf8)

    /// CBOR with the shortest heads. Strings of fewer than 24 bytes do not occur.
    var bytes: Data {
        func string(_ bytes: Data) -> Data {
            let (high, low) = (UInt8(bytes.count >> 8 & 255), UInt8(bytes.count & 255))
            return Data(high == 0 ? [0x58, low] : [0x59, high, low]) + bytes
        }
        return Self.start + string(signature) + Self.middle + string(authenticatorData)
    }

    /// The hash to sign for a manifest: that of its DSSE pre-authentication encoding.
    static func clientDataHash(_ manifest: Data) -> Data {
        let type = Manifest.mediaType
        return Hash.sha256(Data("DSSEv1 \(type.utf8.count) \(type) \(manifest.count) ".utf8) + manifest)
    }
}

extension Assertion {
    /// Reads what `bytes` writes; nil for anything else.
    init?(_ assertion: Data) {
        let string = assertion.dropFirst(Self.start.count + 2)
        signature = Data(string.prefix(Int(assertion.dropFirst(Self.start.count + 1).first ?? 0)))
        let rest = string.dropFirst(signature.count + Self.middle.count)
        authenticatorData = Data(rest.dropFirst(rest.first == 0x59 ? 3 : 2))
        if bytes != assertion { return nil }
    }
}
