/// What a depth map's samples say: for people, and never part of a verdict.
public struct DepthStatistics: Hashable, Sendable {
    public let samples: Int
    /// NaN or 0: not measured.
    public let missing: Int
    /// Below 0, or infinite: they mean nothing and are not counted in the rest.
    public let meaningless: Int
    /// Metres; nil when no sample is measured.
    public let minimum: Float?
    public let maximum: Float?
    /// The middle one, or the mean of the two in the middle.
    public let median: Float?

    public var missingShare: Double { samples == 0 ? 0 : Double(missing) / Double(samples) }

    /// Gathers samples from bytes that come in pieces; needs 4 bytes of memory a measured sample.
    struct Collector {
        private var pending: UInt32 = 0
        private var pendingBytes: UInt32 = 0
        private var measured: [Float] = []
        private var samples = 0
        private var missing = 0
        private var meaningless = 0

        mutating func add(_ bytes: Span<UInt8>) {
            for index in 0..<bytes.count {
                pending |= UInt32(bytes[index]) << (8 * pendingBytes)
                pendingBytes += 1
                if pendingBytes == 4 {
                    add(Float(bitPattern: pending))
                    (pending, pendingBytes) = (0, 0)
                }
            }
        }

        private mutating func add(_ sample: Float) {
            samples += 1
            if sample.isNaN || sample == 0 {
                missing += 1
            } else if sample < 0 || sample.isInfinite {
                meaningless += 1
            } else {
                measured.append(sample)
            }
        }

        func finish() -> DepthStatistics {
            let sorted = measured.sorted()
            let middle = sorted.count / 2
            let median: Float? =
                sorted.isEmpty
                ? nil : sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
            return DepthStatistics(
                samples: samples, missing: missing, meaningless: meaningless, minimum: sorted.first,
                maximum: sorted.last, median: median)
        }
    }
}
