/// Makes small files of the picture formats from their samples, without any library.
public enum PictureFiles {
    /// A grey PNG of 16 bits.
    public static func png(width: Int, height: Int, _ samples: [UInt16]) -> [UInt8] {
        let rows = (0..<height).map { row -> [UInt8] in
            samples[(row * width)..<((row + 1) * width)].flatMap { big(Int($0), 2) }
        }
        return png(width: width, height: height, bits: 16, colour: 0, rows: rows)
    }

    /// A PNG whose rows are stored without compression and without a filter.
    ///
    /// - Parameters:
    ///   - colour: PNG's colour type: 0 grey, 2 RGB, 3 palette, 4 grey with alpha, 6 RGBA.
    ///   - between: Chunks between the header and the rows, made by `chunk`.
    public static func png(
        width: Int, height: Int, bits: UInt8, colour: UInt8, rows: [[UInt8]], between: [UInt8] = []
    ) -> [UInt8] {
        let header = big(width, 4) + big(height, 4) + [bits, colour, 0, 0, 0]
        return [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a] + chunk("IHDR", header) + between
            + chunk("IDAT", zlib(rows.flatMap { [0] + $0 })) + chunk("IEND", [])
    }

    /// A NumPy array.
    public static func npy(
        _ type: String, _ data: [UInt8], shape: String = "(3, 4)", order: String = "False", version: UInt8 = 1
    ) -> [UInt8] {
        npy(header: "{'descr': '\(type)', 'fortran_order': \(order), 'shape': \(shape), }\n", version: version) + data
    }

    /// The beginning of a NumPy array with any header.
    public static func npy(header: String, version: UInt8 = 1) -> [UInt8] {
        [0x93] + Array("NUMPY".utf8) + [version, 0] + little(header.utf8.count, version == 1 ? 2 : 4)
            + Array(header.utf8)
    }

    /// A chunk of a PNG with its length and CRC.
    public static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
        let body = Array(name.utf8) + content
        return big(content.count, 4) + body + big(Int(crc32(body)), 4)
    }

    /// The bytes as a zlib stream of stored blocks.
    public static func zlib(_ bytes: [UInt8]) -> [UInt8] {
        var stream: [UInt8] = [0x78, 0x01]
        var rest = bytes[...]
        repeat {
            let block = rest.prefix(65535)
            rest = rest.dropFirst(block.count)
            stream += [rest.isEmpty ? 1 : 0] + little(block.count, 2) + little(block.count ^ 0xffff, 2) + block
        } while !rest.isEmpty
        var (low, high) = (1, 0)
        for byte in bytes {
            low = (low + Int(byte)) % 65521
            high = (high + low) % 65521
        }
        return stream + big(high << 16 | low, 4)
    }

    /// An OpenEXR file of one channel, in scan lines without compression.
    public static func exr(width: Int, height: Int, _ samples: [Float], channel: String = "Z") -> [UInt8] {
        exr(width: width, height: height, channels: [channel], pixelType: 2, each: samples.map { little($0) })
    }

    /// An OpenEXR file of one channel of half floats, given by their bits.
    public static func exr(width: Int, height: Int, halves: [UInt16]) -> [UInt8] {
        exr(width: width, height: height, channels: ["Y"], pixelType: 1, each: halves.map { little(Int($0), 2) })
    }

    /// - Parameters:
    ///   - pixelType: 0 whole numbers, 1 half, 2 float.
    ///   - each: The bytes of each sample; every channel gets the same ones, but the last one `last`.
    ///   - display: Left, top, right and bottom of the display window, if it is another than the data window.
    public static func exr(
        width: Int, height: Int, channels: [String], pixelType: Int, each: [[UInt8]], last: [[UInt8]]? = nil,
        compression: UInt8 = 0, display: [Int]? = nil
    ) -> [UInt8] {
        let list = channels.flatMap { name -> [UInt8] in
            Array(name.utf8) + [0] + little(pixelType, 4) + [0, 0, 0, 0] + little(1, 4) + little(1, 4)
        }
        let window = little(0, 4) + little(0, 4) + little(width - 1, 4) + little(height - 1, 4)
        var file: [UInt8] = [0x76, 0x2f, 0x31, 0x01, 2, 0, 0, 0]
        file += attribute("channels", "chlist", list + [0])
        file += attribute("compression", "compression", [compression])
        file += attribute("dataWindow", "box2i", window)
        file += attribute("displayWindow", "box2i", display?.flatMap { little($0, 4) } ?? window)
        file += attribute("lineOrder", "lineOrder", [0])
        file += attribute("pixelAspectRatio", "float", little(1 as Float))
        file += attribute("screenWindowCenter", "v2f", little(0 as Float) + little(0 as Float))
        file += attribute("screenWindowWidth", "float", little(1 as Float)) + [0]
        let line = width * (each.first?.count ?? 0) * channels.count
        for row in 0..<height { file += little(file.count + 8 * (height - row) + row * (8 + line), 8) }
        for row in 0..<height {
            file += little(row, 4) + little(line, 4)
            for index in channels.indices {
                let samples = index == channels.count - 1 ? last ?? each : each
                file += samples[(row * width)..<((row + 1) * width)].joined()
            }
        }
        return file
    }

    private static func attribute(_ name: String, _ type: String, _ value: [UInt8]) -> [UInt8] {
        Array(name.utf8) + [0] + Array(type.utf8) + [0] + little(value.count, 4) + value
    }

    /// A TIFF of one channel of floats, uncompressed, in one strip.
    public static func tiff(width: Int, height: Int, _ samples: [Float], isBigEndian: Bool = false) -> [UInt8] {
        let bytes = samples.flatMap { value -> [UInt8] in isBigEndian ? little(value).reversed() : little(value) }
        return tiff(width: width, height: height, bits: 32, format: 3, strip: bytes, isBigEndian: isBigEndian)
    }

    /// A TIFF whose rows are one strip.
    ///
    /// - Parameters:
    ///   - format: 1 unsigned, 2 signed, 3 float.
    ///   - compression: 1 none, 5 LZW, 8 deflate, 32773 PackBits.
    ///   - strip: Empty for a strip that the file leaves out.
    ///   - more: Further tags above 339 whose values are one short each, in ascending order.
    ///   - noData: GDAL's text for missing samples, of 3 characters.
    public static func tiff(
        width: Int, height: Int, bits: Int, format: Int, strip: [UInt8], compression: Int = 1, samples: Int = 1,
        photometric: Int = 1, predictor: Int = 1, isBigEndian: Bool = false, more: [(Int, Int)] = [],
        noData: String? = nil
    ) -> [UInt8] {
        let number = { (value: Int, count: Int) in isBigEndian ? big(value, count) : little(value, count) }
        let tags = [
            (256, width), (257, height), (258, bits), (259, compression), (262, photometric),
            (273, strip.isEmpty ? 0 : 8), (277, samples),
            (278, height), (279, strip.count), (317, predictor), (339, format),
        ]
        var file = Array((isBigEndian ? "MM" : "II").utf8) + number(42, 2) + number(8 + (strip.count + 1) / 2 * 2, 4)
        file += strip + [UInt8](repeating: 0, count: strip.count % 2)
        file += number(tags.count + more.count + (noData == nil ? 0 : 1), 2)
        for (tag, value) in tags + more {
            // Type 4 is a long. A short would stand at the beginning of the four bytes.
            file += number(tag, 2) + number(4, 2) + number(1, 4) + number(value, 4)
        }
        if let noData { file += number(42113, 2) + number(2, 2) + number(4, 4) + Array(noData.utf8) + [0] }
        return file + number(0, 4)
    }

    public static func little(_ number: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    public static func little(_ number: Float) -> [UInt8] { little(Int(number.bitPattern), 4) }

    public static func big(_ number: Int, _ count: Int) -> [UInt8] { little(number, count).reversed() }

    public static func crc32(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(UInt32.max) { crc, byte in
            (0..<8).reduce(crc ^ UInt32(byte)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xedb8_8320 : value >> 1 }
        }
    }
}
