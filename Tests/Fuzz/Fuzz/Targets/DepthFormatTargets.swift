import CaptureBundle
import CaptureNative
import PictureClient

@testable import CaptureImport

/// NumPy's arrays.
enum NumpyTarget: FuzzTarget {
    static let name = "npy"

    static func seeds(_ samples: Samples) -> [[UInt8]] {
        ["<f4", ">f4", "<f2", "<f8", "<u2", "|u1", "<i2", ">i4"].map { type in
            let sample = Int(type.utf8.last ?? 0) - 48
            let header = "{'descr': '\(type)', 'fortran_order': False, 'shape': (3, 4), }"
            let padded = header + String(repeating: " ", count: 117 - header.utf8.count) + "\n"
            return [0x93] + Array("NUMPY\u{1}\0".utf8) + [118, 0] + Array(padded.utf8)
                + [UInt8](repeating: 0x3f, count: 12 * sample)
        }
    }

    static func judge(_ bytes: [UInt8]) {
        guard let grid = Cost.bounded(bytes.count, { try? NumpyArray.decode(bytes) }) else { return }
        expect(grid.size.width * grid.size.height <= bytes.count, "an array has more samples than bytes")
        expect(DepthScale.millimetres.metres(grid).count == grid.size.width * grid.size.height, "samples are lost")
    }
}

/// Portable maps of floats and of grey.
enum PortableFloatMapTarget: FuzzTarget {
    static let name = "pfm"

    static func seeds(_ samples: Samples) -> [[UInt8]] {
        [("Pf\n4 3\n-1.0\n", 48), ("Pf\n4 3\n1\n", 48), ("P5 4 # a\n3 999\n", 24)].map { header, count in
            Array(header.utf8) + [UInt8](repeating: 0x3f, count: count)
        }
    }

    static func judge(_ bytes: [UInt8]) {
        guard let grid = Cost.bounded(bytes.count, { try? PortableMap.decode(bytes) }) else { return }
        expect(grid.grid.size.byteCount <= 4 * bytes.count, "a map has more samples than bytes")
    }
}

/// Raw floats in gzip, zlib or raw deflate: two bytes with width and height, then the stream.
enum CompressedFloatsTarget: FuzzTarget {
    static let name = "compressed-floats"

    static func seeds(_ samples: Samples) -> [[UInt8]] {
        let floats = [UInt8](repeating: 0x3f, count: 48)
        // A gzip member has a header of 10 and a trailer of 8 bytes; what remains is raw deflate.
        guard let member = try? GzipCompressor.compress(floats.span, level: 6) else { return [] }
        let deflated = Array(member[10..<(member.count - 8)])
        return [[4, 3] + member, [4, 3] + deflated, [4, 3, 0x78, 0x9c] + deflated + [0x53, 0xa5, 0x0b, 0xd1]]
    }

    static func judge(_ bytes: [UInt8]) {
        guard bytes.count > 2, let size = DepthSize(width: Int(bytes[0]), height: Int(bytes[1])) else { return }
        let grid = Cost.bounded(bytes.count, inflated: { _ in size.byteCount }) {
            try? CompressedFloats.decode(Array(bytes.dropFirst(2)), size: size)
        }
        expect(grid.map { $0.size == size } ?? true, "the map has another size")
    }
}
