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
