import Foundation
import PhoneCapture

#if canImport(CryptoKit)
    import CryptoKit
#else
    import Crypto
#endif

/// Makes assertions as App Attest does, with a key of ours: the flags are 0x40, s has any size, and a map may follow.
struct AppleForm: ManifestSigner {
    let key: P256.Signing.PrivateKey
    let appID: String
    let map: Data

    var publicKey: Data { key.publicKey.x963Representation }

    func assertion(clientDataHash: Data) async throws -> Data {
        var data = Data(SHA256.hash(data: Data(appID.utf8)))
        data += [0x40, 0, 0, 0, 7] + map
        let signature = try key.signature(for: Data(SHA256.hash(data: data + clientDataHash))).derRepresentation
        let head: [UInt8] =
            data.count < 256 ? [0x58, UInt8(data.count)] : [0x59, UInt8(data.count >> 8), UInt8(data.count & 0xff)]
        return Data([0xa2, 0x69]) + Data("signature".utf8) + [0x58, UInt8(signature.count)] + signature
            + [0x71] + Data("authenticatorData".utf8) + head + data
    }
}

/// Returns an assertion that was recorded earlier.
struct Recorded: ManifestSigner {
    let publicKey: Data
    let assertion: Data

    func assertion(clientDataHash: Data) async throws -> Data { assertion }
}
