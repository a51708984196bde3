import CaptureBundle
package import PictureClient
import PictureMessages

/// Reads a portable float map with one channel (`.pfm`): a text header and Float32 samples, bottom row first.
package enum PortableFloatMap {
    private static let digitLimit = 32

    /// Reads a map in either byte order, and reverses the order of its rows.
    ///
    /// The sign of the scale factor gives the byte order. Its value is not applied to the samples: OpenCV divides by it,
    /// and others do not.
    package static func decode(
        _ bytes: [UInt8]
    ) throws(DepthFormatFailure) -> (grid: SampleGrid, factor: Double) {
        var rest = bytes[...]
        let magic = word(&rest)
        guard magic == "Pf" else {
            if magic == "PF" {
                throw DepthFormatFailure("is a portable float map of three channels (PF), expected one (Pf)")
            }
            let found = Hex.encode(Array(bytes.prefix(2)))
            throw DepthFormatFailure("is not a portable float map: begins with \(found), expected Pf")
        }
        guard let width = number(word(&rest)), let height = number(word(&rest)) else {
            throw DepthFormatFailure("is a portable float map without a size, expected its width and height")
        }
        guard let size = DepthSize(width: width, height: height) else { throw .side(width, height) }
        let text = word(&rest) ?? ""
        guard let scale = Double(text), scale.isFinite, scale != 0 else {
            throw DepthFormatFailure(
                "is a portable float map with the scale factor \"\(text)\", expected a number that is not 0")
        }
        guard rest.count == size.byteCount else { throw .length(rest.count, size, sample: 4) }
        let rows = stride(from: rest.startIndex, to: rest.endIndex, by: 4 * width).reversed()
        let floats = rows.flatMap { rest[$0..<($0 + 4 * width)] }
        return (try SampleGrid(floats[...], .float32, isLittleEndian: scale < 0, size: size), abs(scale))
    }

    /// Reads a word of at most 32 bytes and the one white-space byte after it. Returns nil if the word is empty or longer,
    /// or if no white space follows it.
    private static func word(_ rest: inout ArraySlice<UInt8>) -> String? {
        let isSpace = { (byte: UInt8) in byte == 0x20 || (0x09...0x0d).contains(byte) }
        let word = rest.prefix(digitLimit + 1).prefix { !isSpace($0) }
        guard !word.isEmpty, word.count <= digitLimit, word.count < rest.count else { return nil }
        rest = rest.dropFirst(word.count + 1)
        return String(validating: word, as: UTF8.self)
    }

    private static func number(_ text: String?) -> Int? {
        guard let text, (1...9).contains(text.utf8.count), text.utf8.allSatisfy({ (48...57).contains($0) }) else {
            return nil
        }
        return Int(text)
    }
}
