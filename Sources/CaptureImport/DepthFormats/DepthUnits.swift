package import CaptureBundle

/// The number of metres in one unit of a depth map's samples.
package struct DepthUnits: Hashable, Sendable {
    /// The scale as the decimal text for the manifest.
    package let text: String
    private let metres: Double
    /// The number of units in a metre, if that is a whole number.
    private let unitsPerMetre: Double?

    package static let metres = DepthUnits(text: "1", metres: 1)
    package static let millimetres = DepthUnits(text: "0.001", metres: 0.001)

    /// The allowed scales: from a nanometre to a kilometre.
    private static let scales = 1e-9...1e3

    /// Parses a decimal number such as `0.001`; nil for other texts and for a number outside 10^-9 … 1000.
    package init?(_ text: String) {
        let isDecimal = text.utf8.allSatisfy { (48...57).contains($0) || $0 == UInt8(ascii: ".") }
        guard isDecimal, text.utf8.count <= 32, let metres = Double(text), Self.scales.contains(metres) else {
            return nil
        }
        self.init(text: text, metres: metres)
    }

    private init(text: String, metres: Double) {
        self.text = text
        self.metres = metres
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
