import CaptureNative
import Testing

struct Poly1305Tests {
    /// The key of the example in RFC 8439, section 2.5.2.
    private static let key: [UInt8] = [
        0x85, 0xd6, 0xbe, 0x78, 0x57, 0x55, 0x6d, 0x33, 0x7f, 0x44, 0x52, 0xfe, 0x42, 0xd5, 0x06, 0xa8,
        0x01, 0x03, 0x80, 0x8a, 0xfb, 0x0d, 0xb2, 0xfd, 0x4a, 0xbf, 0xf6, 0xaf, 0x41, 0x49, 0xf5, 0x1b,
    ]
    private static let message = Array("Cryptographic Forum Research Group".utf8)
    private static let tag: [UInt8] = [
        0xa8, 0x06, 0x1d, 0xc1, 0x30, 0x51, 0x36, 0xc6, 0xc2, 0x2b, 0x8b, 0xaf, 0x0c, 0x01, 0x27, 0xa9,
    ]

    private func tag(of message: [UInt8], inPiecesOf length: Int = 100, key: [UInt8] = key) throws -> [UInt8] {
        let poly = try Poly1305(key: key)
        for start in stride(from: 0, to: message.count, by: length) {
            try poly.update(Array(message[start..<min(start + length, message.count)]).span)
        }
        return try poly.finish()
    }

    @Test(arguments: [1, 2, 15, 16, 17, 33, 100])
    func makesTheTagOfTheRFCHoweverTheMessageIsCut(_ length: Int) throws {
        #expect(try tag(of: Self.message, inPiecesOf: length) == Self.tag)
    }

    /// Poly1305 adds the second half of the key at the end, so that half is the tag of an empty message.
    @Test func takesAnEmptyMessage() throws {
        #expect(try tag(of: []) == Array(Self.key[16...]))
    }

    @Test func changesWithEachByteOfMessageAndKey() throws {
        for index in Self.message.indices {
            var other = Self.message
            other[index] ^= 1
            #expect(try tag(of: other) != Self.tag)
        }
        var other = Self.key
        other[31] ^= 1
        #expect(try tag(of: Self.message, key: other) != Self.tag)
    }
}
