package import CaptureBundle

/// The type of the samples in a file, named as NumPy does.
enum SampleType: String {
    case float16 = "f2"
    case float32 = "f4"
    case float64 = "f8"
    case uint16 = "u2"
    case uint8 = "u1"

    var length: Int {
        switch self {
        case .uint8: 1
        case .float16, .uint16: 2
        case .float32: 4
        case .float64: 8
        }
    }
}

extension SampleGrid {
    /// Reads samples in either byte order. 64-bit floats are rounded to the nearest Float32, ties to even.
    ///
    /// - Throws: If the number of bytes does not match the size.
    init(
        _ bytes: ArraySlice<UInt8>, _ type: SampleType, isLittleEndian: Bool, size: DepthSize
    ) throws(DepthFormatFailure) {
        func integers<Value>(_ convert: (UInt64) -> Value) -> [Value] {
            var values: [Value] = []
            values.reserveCapacity(bytes.count / type.length)
            for start in stride(from: bytes.startIndex, to: bytes.endIndex, by: type.length) {
                var number: UInt64 = 0
                for index in 0..<type.length {
                    number =
                        number << 8 | UInt64(bytes[isLittleEndian ? start + type.length - 1 - index : start + index])
                }
                values.append(convert(number))
            }
            return values
        }
        let failure = DepthFormatFailure.length(bytes.count, size, sample: type.length)
        guard bytes.count == type.length * size.width * size.height else { throw failure }
        let values: Values =
            switch type {
            case .float16: .float32(integers { Float(Float16(bitPattern: UInt16(truncatingIfNeeded: $0))) })
            case .float32: .float32(integers { Float(bitPattern: UInt32(truncatingIfNeeded: $0)) })
            case .float64: .float32(integers { Float(Double(bitPattern: $0)) })
            case .uint16: .uint16(integers { UInt16(truncatingIfNeeded: $0) })
            case .uint8: .uint8(Array(bytes))
            }
        guard let grid = SampleGrid(size: size, values: values) else { throw failure }
        self = grid
    }
}

/// Reads a file of Float32 samples, little-endian, row-major, top row first, without a header (`.f32`, `.bin`, `.raw`).
package enum RawFloats {
    /// - Throws: If the number of bytes does not match the size.
    package static func decode(_ bytes: [UInt8], size: DepthSize) throws(DepthFormatFailure) -> SampleGrid {
        try SampleGrid(bytes[...], .float32, isLittleEndian: true, size: size)
    }
}
