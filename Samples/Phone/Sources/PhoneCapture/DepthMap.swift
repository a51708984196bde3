import Foundation

/// A depth map: Float32 metres, little-endian, row by row from the top. NaN or 0 means that nothing was measured.
public struct DepthMap: Sendable {
    let width: Int
    let height: Int
    let floats: Data

    /// - Parameter bytesPerRow: The distance from row to row, for a pixel buffer with more bytes than samples.
    public init(width: Int, height: Int, bytes: Data, bytesPerRow: Int? = nil) throws {
        guard (1...16384).contains(width), (1...16384).contains(height) else {
            throw CaptureError("the depth map has \(width)x\(height) samples, expected 1 to 16384 on each side")
        }
        let (row, distance) = (4 * width, bytesPerRow ?? 4 * width)
        guard distance >= row, bytes.count.isMultiple(of: height), bytes.count / height == distance else {
            throw CaptureError("the depth map has \(bytes.count) bytes, expected \(height) rows of \(distance)")
        }
        (self.width, self.height) = (width, height)
        floats = distance == row ? bytes : Data((0..<height).flatMap { bytes.dropFirst($0 * distance).prefix(row) })
    }

    /// A raw deflate stream (RFC 1951) without compression: 5 bytes more for each 65535.
    @Sendable public static func stored(_ bytes: Data) -> Data {
        var stream = Data()
        for start in stride(from: 0, to: bytes.count, by: 65535) {
            let block = bytes.dropFirst(start).prefix(65535)
            let length = littleEndian(UInt32(block.count)).prefix(2)
            stream += [start + block.count == bytes.count ? 1 : 0] + length + length.map(~)
            stream += block
        }
        return stream
    }

    /// The bytes of depth.f32.gz (Spec/capture-bundle.md section 5).
    func gzip(_ deflate: (Data) throws -> Data) throws -> Data {
        let crc = ~floats.reduce(~0) { $0 >> 8 ^ Self.crcTable[Int(UInt8(truncatingIfNeeded: $0) ^ $1)] }
        let checks = Self.littleEndian(crc) + Self.littleEndian(UInt32(floats.count))
        let member = try Data([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]) + deflate(floats) + checks
        let limit = floats.count + floats.count / 256 + 128
        guard member.count <= limit else {
            throw CaptureError("the compressed depth map has \(member.count) bytes, at most \(limit) are allowed")
        }
        return member
    }

    private static let crcTable: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(byte) { code, _ in code & 1 == 0 ? code >> 1 : code >> 1 ^ 0xedb8_8320 }
    }

    private static func littleEndian(_ value: UInt32) -> [UInt8] {
        [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: value >> $0) }
    }

    var dimensions: JSONValue { ["height": .integer(height), "width": .integer(width)] }
}
