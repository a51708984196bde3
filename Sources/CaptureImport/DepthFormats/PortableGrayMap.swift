import CaptureBundle
package import PictureClient
import PictureMessages

/// Reads a portable grey map in binary form (`.pgm`, P5): a text header and samples of 8 or 16 bits, top row first.
package enum PortableGrayMap {
    /// Reads a map. Samples above 255 have 16 bits, the first byte is the higher one (the format's own rule). They keep
    /// their values: the maximum in the header is not applied.
    package static func decode(_ bytes: [UInt8]) throws(DepthFormatFailure) -> SampleGrid {
        guard bytes.starts(with: "P5".utf8) else {
            let isText = bytes.starts(with: "P2".utf8)
            let found = isText ? "is in text form (P2)" : "begins with \(Hex.encode(Array(bytes.prefix(2))))"
            throw DepthFormatFailure("is not a binary portable grey map: \(found), expected P5")
        }
        var rest = bytes.dropFirst(2)
        guard let width = number(&rest), let height = number(&rest), let most = number(&rest),
            (1...65535).contains(most)
        else {
            throw DepthFormatFailure("is a portable grey map without width, height and a maximum of 1 to 65535")
        }
        guard let size = DepthSize(width: width, height: height) else { throw .side(width, height) }
        // One byte of white space follows the maximum.
        guard let space = rest.popFirst(), isSpace(space) else { throw .length(0, size, sample: most > 255 ? 2 : 1) }
        return try SampleGrid(rest, most > 255 ? .uint16 : .uint8, isLittleEndian: false, size: size)
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0d).contains(byte) }

    /// Reads a number after white space and comments, which go from `#` to the end of a line. nil unless there is white
    /// space and a number of at most 9 digits.
    private static func number(_ rest: inout ArraySlice<UInt8>) -> Int? {
        let start = rest.startIndex
        while let byte = rest.first, isSpace(byte) || byte == UInt8(ascii: "#") {
            rest = byte == UInt8(ascii: "#") ? rest.drop { $0 != 0x0a } : rest.dropFirst()
        }
        let digits = rest.prefix(10).prefix { (48...57).contains($0) }
        guard rest.startIndex > start, (1...9).contains(digits.count) else { return nil }
        rest = rest.dropFirst(digits.count)
        return Int(String(decoding: digits, as: UTF8.self))
    }
}
