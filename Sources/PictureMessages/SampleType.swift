/// The type of the samples in a file of depth samples.
package enum SampleType: UInt8, Sendable, CaseIterable {
    case uint8 = 1, uint16, uint32, int16, int32, float16, float32, float64

    private var parts: (letter: String, bytes: Int) {
        switch self {
        case .uint8: ("u", 1)
        case .uint16: ("u", 2)
        case .uint32: ("u", 4)
        case .int16: ("i", 2)
        case .int32: ("i", 4)
        case .float16: ("f", 2)
        case .float32: ("f", 4)
        case .float64: ("f", 8)
        }
    }

    /// The number of bytes of a sample.
    package var byteCount: Int { parts.bytes }

    package var isFloat: Bool { parts.letter == "f" }

    /// The name with the number of bits, such as `u16`.
    package var name: String { "\(parts.letter)\(8 * parts.bytes)" }

    /// NumPy's name, with the number of bytes, such as `u2`.
    package var numpyName: String { "\(parts.letter)\(parts.bytes)" }

    /// The highest number of a type of integers; 0 for floats.
    package var highest: UInt32 {
        isFloat ? 0 : UInt32.max >> UInt32((parts.letter == "i" ? 33 : 32) - 8 * parts.bytes)
    }
}
