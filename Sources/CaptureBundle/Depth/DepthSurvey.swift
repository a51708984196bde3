/// Judges in one pass, and in constant memory, whether a depth map can be in metres (Spec/capture-bundle.md section 5.2).
struct DepthSurvey {
    /// Samples below 0 or infinite.
    private(set) var meaningless = 0
    /// Samples above 0 and finite.
    private(set) var measured = 0
    private var below = 0
    private var above = 0
    /// How many measured samples begin with the same 16 bits: enough to know the median to less than 1 %.
    private var bins = [UInt32](repeating: 0, count: 0x7f80)
    private var pieces = SamplePieces()

    static let range = "0.05 to 100 m"
    // The bits of floats above 0 are in the order of the floats.
    private static let least = Float(0.05).bitPattern
    private static let most = Float(100).bitPattern
    private static let infinity = Float.infinity.bitPattern

    mutating func add(_ bytes: Span<UInt8>) {
        // Lent to a local, since the closure changes the rest.
        var pieces = self.pieces
        pieces.read(bytes) { count($0) }
        self.pieces = pieces
    }

    private mutating func count(_ bits: UInt32) {
        if 0 < bits && bits < Self.infinity {
            measured += 1
            if bits < Self.least { below += 1 } else if bits > Self.most { above += 1 }
            bins[Int(bits >> 16)] += 1
        } else if bits == Self.infinity || (0x8000_0001...0xff80_0000).contains(bits) {
            meaningless += 1
        }
    }

    /// Fewer than half of the measured samples are below 0.05 m, and fewer than half above 100 m.
    var isPlausible: Bool { 2 * below < measured && 2 * above < measured }

    /// What is found where the depth map is not plausible, with its number.
    var finding: String {
        guard let median else { return "it has no measured sample" }
        return "its median is about \(Self.rounded(median)) m, expected \(Self.range)"
    }

    /// Whether a thousandth of it would be plausible.
    var looksLikeMillimetres: Bool { median.map { (50...100_000).contains($0) } ?? false }

    private var median: Float? {
        var passed = 0
        for (bin, count) in bins.enumerated() {
            passed += Int(count)
            if 2 * passed > measured { return Float(bitPattern: UInt32(bin) << 16 | 0x8000) }
        }
        return nil
    }

    /// With three digits.
    private static func rounded(_ value: Float) -> String {
        let value = Double(value)
        var (factor, divisor) = (1.0, 1.0)
        while value * factor < 100 { factor *= 10 }
        while value / divisor >= 1000 { divisor *= 10 }
        let text = String((value * factor / divisor).rounded() * divisor / factor)
        return text.rest(before: ".0") ?? text
    }
}
