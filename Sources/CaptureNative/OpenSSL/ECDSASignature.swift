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

    private init(r: [UInt8], s: [UInt8]) { (self.r, self.s) = (r, s) }

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
    package var der: [UInt8] { DER.sequence(Self.integer(r) + Self.integer(s)) }

    private static func integer(_ value: [UInt8]) -> [UInt8] {
        var digits = Array(value.drop { $0 == 0 })
        if digits.first.map({ $0 >= 0x80 }) ?? true { digits.insert(0, at: 0) }
        return DER.element(DER.integer, digits)
    }

    private static func bytes(_ number: OpaquePointer?) -> [UInt8]? {
        guard let number = unsafe number, unsafe BN_is_negative(number) == 0 else { return nil }
        var value = [UInt8](repeating: 0, count: 32)
        let count = unsafe BN_bn2binpad(number, &value, 32)
        guard count == 32, value.contains(where: { $0 != 0 }), value.lexicographicallyPrecedes(order) else {
            _ = OpenSSLErrorQueue.drain("BN_bn2binpad")
            return nil
        }
        return value
    }
}

/// The few elements of DER (ITU-T X.690) that this library reads and writes without OpenSSL.
package enum DER {
    package struct Element {
        package let tag: UInt8
        package let contents: ArraySlice<UInt8>
        /// The tag, the length and the contents.
        package let whole: ArraySlice<UInt8>
    }

    package static let integer: UInt8 = 0x02
    package static let bitString: UInt8 = 0x03
    package static let octetString: UInt8 = 0x04
    package static let text: UInt8 = 0x0c
    package static let sequenceTag: UInt8 = 0x30

    package static func sequence(_ contents: [UInt8]) -> [UInt8] { element(sequenceTag, contents) }

    /// An element with contents of fewer than 65,536 bytes.
    package static func element(_ tag: UInt8, _ contents: [UInt8]) -> [UInt8] {
        switch contents.count {
        case ..<0x80: [tag, UInt8(contents.count)] + contents
        case ..<0x100: [tag, 0x81, UInt8(contents.count)] + contents
        default: [tag, 0x82, UInt8(truncatingIfNeeded: contents.count >> 8), UInt8(contents.count & 0xff)] + contents
        }
    }

    /// Splits bytes into elements that follow each other; nil unless they end with the last element. A tag has one byte
    /// and a length is definite and as short as it can be. The contents are not looked at.
    package static func elements(_ bytes: ArraySlice<UInt8>) -> [Element]? {
        var found: [Element] = []
        var rest = bytes
        while let tag = rest.first {
            guard tag & 0x1f != 0x1f, let first = rest.dropFirst().first else { return nil }
            let length = first < 0x80 ? [first][...] : rest.dropFirst(2).prefix(Int(first & 0x7f))
            guard first < 0x80 || isShortest(length) && length.count == Int(first & 0x7f) else { return nil }
            let head = first < 0x80 ? 2 : 2 + length.count
            let count = length.reduce(0) { $0 << 8 | Int($1) }
            guard rest.count - head >= count else { return nil }
            let whole = rest.prefix(head + count)
            found.append(Element(tag: tag, contents: whole.dropFirst(head), whole: whole))
            rest = rest.dropFirst(head + count)
        }
        return found
    }

    private static func isShortest(_ length: ArraySlice<UInt8>) -> Bool {
        guard let first = length.first, length.count <= 4 else { return false }
        return length.count == 1 ? first >= 0x80 : first > 0
    }

    /// The elements of a SEQUENCE; nil unless the bytes are one SEQUENCE with nothing after it.
    package static func sequence(_ bytes: ArraySlice<UInt8>) -> [Element]? {
        guard let outer = elements(bytes), outer.count == 1, outer[0].tag == sequenceTag else { return nil }
        return elements(outer[0].contents)
    }
}
