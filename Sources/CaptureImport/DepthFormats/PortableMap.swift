import CaptureBundle
package import PictureClient
import PictureMessages

/// Reads the binary maps of Netpbm with one channel: grey of 8 or 16 bits, top row first (`.pgm`, P5), and Float32, bottom
/// row first (`.pfm`, Pf). A text header comes before the samples.
package enum PortableMap {
    /// Grey samples above 255 have 16 bits, the first byte is the higher one; the maximum in the header is not applied.
    /// The sign of the scale factor of floats gives the byte order. Its value is not applied either: OpenCV divides by
    /// it, and others do not.
    ///
    /// - Returns: The samples, and the value of the scale factor; 1 for grey.
    package static func decode(_ bytes: [UInt8]) throws(PictureFailure) -> (grid: SampleGrid, factor: Double) {
        let isFloat = bytes.starts(with: "Pf".utf8)
        guard isFloat || bytes.starts(with: "P5".utf8) else {
            let kinds = ["PF": "has three channels", "P2": "is in text form", "P6": "has three channels"]
            let mark = Array(bytes.prefix(2))
            let found = kinds[String(decoding: mark, as: UTF8.self)] ?? "begins with \(Hex.encode(mark))"
            throw .malformed("is not a portable map of floats (Pf) or binary grey (P5): it \(found)")
        }
        var rest = bytes.dropFirst(2)
        guard let width = word(&rest)?.number(digits: 1...9), let height = word(&rest)?.number(digits: 1...9),
            let text = word(&rest),
            let space = rest.popFirst(), isSpace(space)
        else { throw .malformed("is a portable map without a size and a third number in its header") }
        guard let size = DepthSize(width: width, height: height) else { throw .side(width, height) }
        guard isFloat else {
            guard let most = text.number(digits: 1...9), (1...65535).contains(most) else {
                throw .malformed("is a portable map with the maximum \"\(text)\", expected 1 to 65535")
            }
            return (try SampleGrid(rest, most > 255 ? .uint16 : .uint8, isLittleEndian: false, size: size), 1)
        }
        guard let scale = Double(text), scale.isFinite, scale != 0 else {
            throw .malformed("is a portable map with the scale factor \"\(text)\", expected a number that is not 0")
        }
        guard rest.count == size.byteCount else { throw .length(rest.count, size, sample: 4) }
        let rows = stride(from: rest.startIndex, to: rest.endIndex, by: 4 * width).reversed()
        let floats = rows.flatMap { rest[$0..<($0 + 4 * width)] }
        return (try SampleGrid(floats[...], .float32, isLittleEndian: scale < 0, size: size), abs(scale))
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0d).contains(byte) }

    /// Reads a word of at most 32 bytes after white space and comments, which go from `#` to the end of a line.
    private static func word(_ rest: inout ArraySlice<UInt8>) -> String? {
        let start = rest.startIndex
        while let byte = rest.first, isSpace(byte) || byte == UInt8(ascii: "#") {
            rest = byte == UInt8(ascii: "#") ? rest.drop { $0 != 0x0a } : rest.dropFirst()
        }
        let word = rest.prefix(33).prefix { !isSpace($0) }
        guard rest.startIndex > start, (1...32).contains(word.count) else { return nil }
        rest = rest.dropFirst(word.count)
        return String(validating: word, as: UTF8.self)
    }
}
