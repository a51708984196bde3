import CaptureBundle
package import PictureClient

/// The number of metres in one unit of depth samples, as a positive decimal number such as `0.001`.
public struct DepthScale: Hashable, Sendable, LosslessStringConvertible {
    public let description: String
    let metres: Double
    /// The number of units in a metre, if that is a whole number.
    private let unitsPerMetre: Double?

    public static let metres = DepthScale(known: "1", 1)
    public static let millimetres = DepthScale(known: "0.001", 0.001)

    /// Parses a number with at most 10 digits before the point and 20 after it, also one with an exponent; nil for other
    /// texts and for numbers outside 10^-9 … 10^6.
    public init?(_ text: String) {
        let decimal = Self.decimal(text)
        guard Manifest.isDecimal(decimal), let metres = Double(decimal), (1e-9...1e6).contains(metres) else {
            return nil
        }
        self.init(known: decimal, metres)
    }

    /// The same number without an exponent, such as `0.00015` for `1.5e-04`; the text as it is if it has none.
    private static func decimal(_ text: String) -> String {
        let parts = text.lowercased().pieces(by: "e", keepsEmpty: true)
        guard parts.count == 2, let exponent = Int(parts[1]), abs(exponent) < 32 else { return text }
        let digits = parts[0].pieces(by: ".", keepsEmpty: true)
        guard digits.count <= 2, let whole = digits.first else { return text }
        let zeros = String(repeating: "0", count: 32)
        let all = Array((zeros + whole + (digits.count == 2 ? digits[1] : "") + zeros).utf8)
        let point = 32 + whole.utf8.count + exponent
        let (before, after) = (all[..<point].drop { $0 == 48 }, all[point...].reversed().drop { $0 == 48 }.reversed())
        let text = [before.isEmpty ? [48] : Array(before), Array(after)].filter { !$0.isEmpty }
        return text.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ".")
    }

    /// A number for a message.
    static func text(_ number: Double) -> String { "\(number)".rest(before: ".0") ?? "\(number)" }

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
    /// - Parameter limit: Samples above this number become 0.
    package func metres(_ grid: SampleGrid, limit: Double = .infinity) -> [Float] {
        func convert(_ value: Double) -> Float {
            value > limit ? 0 : Float(unitsPerMetre.map { value / $0 } ?? value * metres)
        }
        switch grid.values {
        case .uint8(let codes): return codes.map { convert(Double($0)) }
        case .uint16(let codes): return codes.map { convert(Double($0)) }
        case .uint32(let codes): return codes.map { convert(Double($0)) }
        case .float32(let values):
            return metres == 1 && limit == .infinity ? values : values.map { $0.isNaN ? $0 : convert(Double($0)) }
        }
    }
}
