package import CaptureBundle

/// The number of metres in one unit of depth samples, as a positive decimal number such as `0.001`.
public struct DepthScale: Hashable, Sendable, LosslessStringConvertible {
    public let description: String
    private let metres: Double
    /// The number of units in a metre, if that is a whole number.
    private let unitsPerMetre: Double?

    public static let metres = DepthScale(known: "1", 1)
    public static let millimetres = DepthScale(known: "0.001", 0.001)

    /// Parses a number with at most 10 digits before the point and 20 after it; nil for other texts and for numbers
    /// outside 10^-9 … 1000.
    public init?(_ text: String) {
        guard Manifest.isDecimal(text), let metres = Double(text), (1e-9...1e3).contains(metres) else { return nil }
        self.init(known: text, metres)
    }

    private init(known text: String, _ metres: Double) {
        (description, self.metres) = (text, metres)
        let reciprocal = (1 / metres).rounded()
        unitsPerMetre = reciprocal >= 1 && 1 / reciprocal == metres ? reciprocal : nil
    }

    /// The samples in metres.
    ///
    /// They are computed in Float64 and rounded to Float32 once. If a metre has a whole number of units, the samples are
    /// divided by that number, because 0.001 is not exact in binary, but 1000 is. Floats that are in metres already keep
    /// all their bits. Zeros stay zeros, and NaN stays NaN.
    ///
    /// - Parameter isMaxMissing: Whether the highest number that an integer sample can have becomes 0.
    package func metres(_ grid: SampleGrid, isMaxMissing: Bool = false) -> [Float] {
        switch grid.values {
        case .uint8(let codes):
            let table = (0...255).map { $0 == 255 && isMaxMissing ? 0 : convert(Double($0)) }
            return codes.map { table[Int($0)] }
        case .uint16(let codes): return codes.map { $0 == .max && isMaxMissing ? 0 : convert(Double($0)) }
        case .float32(let values): return metres == 1 ? values : values.map { $0.isNaN ? $0 : convert(Double($0)) }
        }
    }

    private func convert(_ value: Double) -> Float {
        Float(unitsPerMetre.map { value / $0 } ?? value * metres)
    }
}
