import CaptureNative
import Testing

struct ECDSASignatureTests {
    private static let key = try? P256PrivateKey.generate()

    @Test func signsWithLowSAndVerifies() throws {
        let key = try #require(Self.key)
        for number in 0..<64 {
            let message = [UInt8](repeating: UInt8(number), count: 32)
            let signature = try key.sign(message)
            #expect(signature.isLowS)
            #expect(try key.publicKey.verifies(signature, message: message))
            #expect(try !key.publicKey.verifies(signature, message: message + [0]))
            #expect(try ECDSASignature(der: signature.der) == signature)
        }
    }

    @Test func acceptsBothFormsOfOneSignatureAndTellsThemApart() throws {
        // r = 1, s = n - 1 is a high s; the equivalent signature with a low s is r = 1, s = 1.
        let order: [UInt8] = [
            0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
            0xbc, 0xe6, 0xfa, 0xad, 0xa7, 0x17, 0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51,
        ]
        let highest = order.dropLast() + [0x50]
        let high = try #require(try ECDSASignature(der: [0x30, 0x26, 2, 1, 1, 2, 0x21, 0] + highest))
        #expect(!high.isLowS)
        #expect(high.normalized.s == [UInt8](repeating: 0, count: 31) + [1])
        #expect(try ECDSASignature(der: [0x30, 0x26, 2, 1, 1, 2, 0x21, 0] + order) == nil)
    }

    @Test(
        arguments: [
            [], [0x30], [0x30, 0], [0x30, 6, 2, 1, 0, 2, 1, 1], [0x30, 6, 2, 1, 1, 2, 1, 0],
            [0x30, 6, 2, 1, 0x81, 2, 1, 1],
            [0x30, 7, 2, 2, 0, 1, 2, 1, 1], [0x30, 6, 2, 1, 1, 2, 1, 1, 0], [0x30, 0x81, 6, 2, 1, 1, 2, 1, 1],
            [0x30, 0x80, 2, 1, 1, 2, 1, 1, 0, 0], [0x31, 6, 2, 1, 1, 2, 1, 1], [0x30, 9, 2, 1, 1, 2, 1, 1, 2, 1, 1],
        ] as [[UInt8]])
    func refusesWhatIsNotStrictDER(_ der: [UInt8]) throws {
        // The smallest signature.
        #expect(try ECDSASignature(der: [0x30, 6, 2, 1, 1, 2, 1, 1]) != nil)
        #expect(try ECDSASignature(der: der) == nil)
    }
}

struct P256KeyTests {
    @Test func refusesPointsThatAreNotOnTheCurve() throws {
        let point = try P256PrivateKey.generate().publicKey.point
        #expect(try P256PublicKey(point: point) != nil)
        var bent = point
        bent[64] ^= 1
        #expect(try P256PublicKey(point: bent) == nil)
        #expect(try P256PublicKey(point: [0]) == nil)
        #expect(try P256PublicKey(point: [0x02] + point[1...32]) == nil)
        #expect(try P256PublicKey(point: [0x06 | point[64] & 1] + point[1...]) == nil)
        #expect(try P256PublicKey(point: [0x04] + [UInt8](repeating: 0, count: 64)) == nil)
    }

    @Test func opensAnEncryptedKeyWithItsPassphraseOnlyAndNoDamagedOne() throws {
        let key = try P256PrivateKey.generate()
        let pem = try key.pem(passphrase: Array("correct horse".utf8))
        #expect(String(decoding: pem, as: UTF8.self).hasPrefix("-----BEGIN ENCRYPTED PRIVATE KEY-----\n"))
        let opened = try P256PrivateKey.load(pem: pem, passphrase: Array("correct horse".utf8))
        #expect(opened.publicKey.point == key.publicKey.point)
        for (pem, passphrase, failure) in [
            (pem, Array("wrong".utf8), .wrongPassphrase), (pem, nil, .passphraseNeeded), ([], nil, .damaged),
            (Array(try key.pem(passphrase: nil).dropLast(40)), nil, .damaged),
        ] as [([UInt8], [UInt8]?, P256PrivateKey.LoadFailure)] {
            #expect(throws: failure) { try P256PrivateKey.load(pem: pem, passphrase: passphrase) }
        }
    }
}
