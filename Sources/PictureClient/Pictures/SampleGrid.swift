package import CaptureBundle
package import PictureMessages

/// The samples of a picture or an array with one channel, as its file has them: row-major, top row first.
package struct SampleGrid: Sendable {
    /// One value for each sample: `size.width * size.height` of them.
    package enum Values: Sendable {
        case uint8([UInt8])
        case uint16([UInt16])
        case uint32([UInt32])
        case float32([Float])
    }

    package let size: DepthSize
    package let values: Values
    /// The type of the samples in the file.
    package let type: SampleType
    /// The highest number that an integer of the file can be; 0 for floats.
    package var highest: UInt32
    /// What a user must know about how the samples were read. Each continues a sentence that begins with the file's name.
    package var notes: [String] = []

    /// Creates a grid of `size.width * size.height` values.
    package init(size: DepthSize, values: Values, type: SampleType) {
        (self.size, self.values, self.type, highest) = (size, values, type, type.highest)
    }

    /// How many samples are above a number.
    package func count(above limit: Double) -> Int {
        switch values {
        case .uint8(let values): values.count { Double($0) > limit }
        case .uint16(let values): values.count { Double($0) > limit }
        case .uint32(let values): values.count { Double($0) > limit }
        case .float32(let values): values.count { Double($0) > limit }
        }
    }
}

extension SampleGrid {
    /// Reads samples in either byte order. 64-bit floats are rounded to the nearest Float32, ties to even.
    ///
    /// - Throws: If the number of bytes does not match the size, or a sample is negative.
    package init(
        _ bytes: ArraySlice<UInt8>, _ type: SampleType, isLittleEndian: Bool, size: DepthSize
    ) throws(PictureFailure) {
        let each = type.byteCount
        func numbers<Value>(_ convert: (UInt64) -> Value) -> [Value] {
            var values: [Value] = []
            values.reserveCapacity(bytes.count / each)
            for start in stride(from: bytes.startIndex, to: bytes.endIndex, by: each) {
                var number: UInt64 = 0
                for index in 0..<each {
                    number = number << 8 | UInt64(bytes[isLittleEndian ? start + each - 1 - index : start + index])
                }
                values.append(convert(number))
            }
            return values
        }
        guard bytes.count == each * size.width * size.height else { throw .length(bytes.count, size, sample: each) }
        let values: Values =
            switch type {
            case .float16: .float32(numbers { Float(Float16(bitPattern: UInt16(truncatingIfNeeded: $0))) })
            case .float32: .float32(numbers { Float(bitPattern: UInt32(truncatingIfNeeded: $0)) })
            case .float64: .float32(numbers { Float(Double(bitPattern: $0)) })
            case .uint32, .int32: .uint32(numbers { UInt32(truncatingIfNeeded: $0) })
            case .uint16, .int16: .uint16(numbers { UInt16(truncatingIfNeeded: $0) })
            case .uint8: .uint8(Array(bytes))
            }
        self.init(size: size, values: values, type: type)
        // The bits of a negative number are those of one above the highest.
        guard type.isFloat || count(above: Double(highest)) == 0 else {
            throw PictureFailure(.unsupported, "has negative samples, which a depth map of integers cannot have")
        }
    }
}
