/// Judges in one pass, and in constant memory, whether a depth map can be in metres (Spec/capture-bundle.md section 5.2).
package struct DepthSurvey {
    /// Samples below 0 or infinite.
    package private(set) var meaningless = 0
    /// Samples above 0 and finite.
    package private(set) var measured = 0
    private var below = 0
    private var above = 0
    /// How many measured samples begin with the same 16 bits: enough to know the median to less than 1 %.
    private var bins = [UInt32](repeating: 0, count: 0x7f80)
    private var pieces = SamplePieces()

    // The bits of floats above 0 are in the order of the floats.
    package init() {}

    private static let least = Float(0.05).bitPattern
    private static let most = Float(100).bitPattern
    private static let infinity = Float.infinity.bitPattern

    package mutating func add(_ bytes: Span<UInt8>) {
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
    package var isPlausible: Bool { !isMostlyBelow && 2 * above < measured }

    /// Half or more of the measured samples are below 0.05 m.
    private var isMostlyBelow: Bool { 2 * below >= measured }

    /// What is found where the depth map is not plausible, with its number.
    package var finding: String {
        guard let median else { return "it has no measured sample" }
        let side = isMostlyBelow ? "below 0.05 m" : "above 100 m"
        return "half or more of its measured samples are \(side) (median \(Self.words(median, side)))"
    }

    /// Whether the median would clearly be plausible if the values were millimetres.
    package var looksLikeMillimetres: Bool { median.map { (200...50_000).contains($0) } ?? false }

    /// The median. If there are two middle samples, this is the one that is not plausible.
    private var median: Float? {
        guard measured > 0 else { return nil }
        var passed = 0
        for (bin, count) in bins.enumerated() {
            passed += Int(count)
            guard 2 * passed > measured || isMostlyBelow && 2 * passed == measured else { continue }
            return Float(bitPattern: UInt32(bin) << 16 | 0x8000)
        }
        return nil
    }

    /// The median in words. Plain rounding could show the limit itself or a value beyond it.
    private static func words(_ median: Float, _ side: String) -> String {
        if median < 0.001 { return "less than 0.001 m" }
        if median > 1_000_000 { return "more than 1000000 m" }
        let number = rounded(median)
        if (0.05...100).contains(number) { return "just \(side)" }
        let text = String(number)
        return "about \(text.rest(before: ".0") ?? text) m"
    }

    /// With three digits.
    private static func rounded(_ value: Float) -> Double {
        let value = Double(value)
        var (factor, divisor) = (1.0, 1.0)
        while value * factor < 100 { factor *= 10 }
        while value / divisor >= 1000 { divisor *= 10 }
        return (value * factor / divisor).rounded() * divisor / factor
    }
}
