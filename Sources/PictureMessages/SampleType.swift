/// The type of the samples in a file, with its letter and the number of its bits.
package enum SampleType: String, Sendable, CaseIterable {
    case uint8 = "u8", uint16 = "u16", uint32 = "u32", int16 = "i16", int32 = "i32"
    case float16 = "f16", float32 = "f32", float64 = "f64"

    private var letter: String { rawValue.cut(to: 1) }
    private var bits: Int { Int(rawValue.without(first: 1)) ?? 0 }

    /// The number of bytes of a sample.
    package var byteCount: Int { bits / 8 }

    package var isFloat: Bool { letter == "f" }
    package var isSigned: Bool { letter != "u" }

    /// NumPy's name, with the number of bytes, such as `u2`.
    package var numpyName: String { "\(letter)\(byteCount)" }

    /// The highest number of a type of integers; 0 for floats.
    package var highest: UInt32 { isFloat ? 0 : UInt32.max >> UInt32((letter == "i" ? 33 : 32) - bits) }

    /// The number in a message.
    package var code: UInt8 { UInt8(Self.allCases.firstIndex(of: self) ?? 0) }

    package init?(code: UInt8) {
        guard Int(code) < Self.allCases.count else { return nil }
        self = Self.allCases[Int(code)]
    }
}
