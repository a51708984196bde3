/// The bytes of samples in either byte order.
struct SampleBytes {
    let bytes: ArraySlice<UInt8>
    let isLittleEndian: Bool

    var float16: [Float] { integers(2) { Float(Float16(bitPattern: UInt16(truncatingIfNeeded: $0))) } }
    var float32: [Float] { integers(4) { Float(bitPattern: UInt32(truncatingIfNeeded: $0)) } }
    /// 64-bit floats, each rounded to the nearest Float32, ties to even.
    var float64: [Float] { integers(8) { Float(Double(bitPattern: $0)) } }
    var uint16: [UInt16] { integers(2) { UInt16(truncatingIfNeeded: $0) } }

    /// Converts each integer of `length` bytes. The number of bytes must be a multiple of `length`.
    private func integers<Value>(_ length: Int, _ convert: (UInt64) -> Value) -> [Value] {
        var values: [Value] = []
        values.reserveCapacity(bytes.count / length)
        for start in stride(from: bytes.startIndex, to: bytes.endIndex, by: length) {
            var number: UInt64 = 0
            for index in 0..<length {
                number = number << 8 | UInt64(bytes[isLittleEndian ? start + length - 1 - index : start + index])
            }
            values.append(convert(number))
        }
        return values
    }
}
