/// The number of metres in one unit of a depth map's samples.
package struct DepthUnits: Hashable, Sendable {
    /// The scale as decimal text, as it goes into the manifest.
    package let text: String
    private let metres: Double
    /// The number of units in a metre, if that is a whole number.
    private let unitsPerMetre: Double?

    package static let metres = DepthUnits(text: "1", metres: 1)
    package static let millimetres = DepthUnits(text: "0.001", metres: 0.001)

    /// The scales that a depth map can have: from a nanometre to a kilometre.
    private static let scales = 1e-9...1e3

    /// - Parameter text: A decimal number such as `0.001`; nil unless it is one from 10^-9 to 1000.
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
    /// They are computed in Float64 and rounded to Float32 once. Where a metre has a whole number of units, the samples
    /// are divided by it: 0.001 itself is not exact in binary, but 1000 is. In metres, floats keep all their bits. Zeros
    /// stay zeros, and NaN stays NaN.
    package func metres(_ grid: SampleGrid) -> [Float] {
        switch grid.values {
        case .uint8(let codes):
            let table = (0...255).map { convert(Double($0)) }
            return codes.map { table[Int($0)] }
        case .uint16(let codes): return codes.map { convert(Double($0)) }
        case .float32(let values): return metres == 1 ? values : values.map { $0.isNaN ? $0 : convert(Double($0)) }
        }
    }

    private func convert(_ value: Double) -> Float {
        Float(unitsPerMetre.map { value / $0 } ?? value * metres)
    }
}
