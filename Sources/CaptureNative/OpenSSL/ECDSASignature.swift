import COpenSSL

/// An ECDSA P-256 signature as two 32-byte big-endian integers, each in 1 … n − 1.
package struct ECDSASignature: Hashable, Sendable {
    package let r: [UInt8]
    package let s: [UInt8]

    /// The order n of P-256 (SEC 2 section 2.4.2).
    private static let order: [UInt8] = [
        0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
        0xbc, 0xe6, 0xfa, 0xad, 0xa7, 0x17, 0x9e, 0x84, 0xf3, 0xb9, 0xca, 0xc2, 0xfc, 0x63, 0x25, 0x51,
    ]

    private init(r: [UInt8], s: [UInt8]) {
        self.r = r
        self.s = s
    }

    /// Parses a signature; nil unless `der` is exactly the DER of two INTEGERs in 1 … n − 1.
    package init?(der: [UInt8]) throws(NativeError) {
        guard let parsed = unsafe decodeDER(der, { unsafe d2i_ECDSA_SIG(nil, $0, $1) }) else {
            try OpenSSLErrorQueue.drainRefusal("d2i_ECDSA_SIG")
            return nil
        }
        defer { unsafe ECDSA_SIG_free(parsed) }
        guard let r = unsafe Self.bytes(ECDSA_SIG_get0_r(parsed)), let s = unsafe Self.bytes(ECDSA_SIG_get0_s(parsed))
        else { return nil }
        self.init(r: r, s: s)
        // Comparing with the re-encoded bytes excludes BER, padded integers and bytes after the end.
        guard der == self.der else { return nil }
    }

    /// Whether s is at most (n − 1)/2, which is the same as s < n − s, because n is odd.
    package var isLowS: Bool { s.lexicographicallyPrecedes(otherS) }

    /// The same signature with s at most (n − 1)/2. Both (r, s) and (r, n − s) are valid signatures.
    package var normalized: ECDSASignature { isLowS ? self : ECDSASignature(r: r, s: otherS) }

    /// n − s.
    private var otherS: [UInt8] {
        var difference = Self.order
        var borrow = 0
        for index in difference.indices.reversed() {
            let digit = Int(difference[index]) - Int(s[index]) - borrow
            borrow = digit < 0 ? 1 : 0
            difference[index] = UInt8(truncatingIfNeeded: digit)
        }
        return difference
    }

    /// The signature as a DER SEQUENCE of two INTEGERs, 8 to 72 bytes.
    package var der: [UInt8] {
        let body = Self.integer(r) + Self.integer(s)
        return [0x30, UInt8(body.count)] + body
    }

    private static func integer(_ value: [UInt8]) -> [UInt8] {
        var digits = Array(value.drop { $0 == 0 })
        if digits.first.map({ $0 >= 0x80 }) ?? true { digits.insert(0, at: 0) }
        return [0x02, UInt8(digits.count)] + digits
    }

    private static func bytes(_ number: OpaquePointer?) -> [UInt8]? {
        guard let number = unsafe number, unsafe BN_is_negative(number) == 0 else { return nil }
        var value = [UInt8](repeating: 0, count: 32)
        let count = unsafe value.withUnsafeMutableBufferPointer { unsafe BN_bn2binpad(number, $0.baseAddress, 32) }
        guard count == 32, value.contains(where: { $0 != 0 }), value.lexicographicallyPrecedes(order) else {
            _ = OpenSSLErrorQueue.drain("BN_bn2binpad")
            return nil
        }
        return value
    }
}
