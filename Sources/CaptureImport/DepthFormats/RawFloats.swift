package import CaptureBundle

/// Reads a file of Float32 samples, little-endian, row-major, top row first, without a header (`.f32`, `.bin`, `.raw`).
package enum RawFloats {
    /// - Throws: If the number of bytes does not match the size.
    package static func decode(_ bytes: [UInt8], size: DepthSize) throws(DepthFormatFailure) -> SampleGrid {
        guard bytes.count == size.byteCount,
            let grid = SampleGrid(
                size: size, values: .float32(SampleBytes(bytes: bytes[...], isLittleEndian: true).float32))
        else { throw .length(bytes.count, size, sample: 4) }
        return grid
    }
}
