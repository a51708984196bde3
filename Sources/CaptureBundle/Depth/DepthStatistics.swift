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
    /// The middle one, or the mean of the two in the middle; nil above `medianLimit` samples too, which would have to be
    /// held in memory.
    public let median: Float?

    public static let medianLimit = 1 << 22

    public var missingShare: Double { samples == 0 ? 0 : Double(missing) / Double(samples) }

    /// Gathers samples from bytes that come in pieces; memory is bounded by `medianLimit`.
    package struct Collector {
        private var pending: UInt32 = 0
        private var pendingBytes: UInt32 = 0
        private var measured: [Float] = []
        private var minimum: Float?
        private var maximum: Float?
        private var samples = 0
        private var missing = 0
        private var meaningless = 0

        package init() {}

        package mutating func add(_ bytes: Span<UInt8>) {
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
                minimum = Swift.min(minimum ?? sample, sample)
                maximum = Swift.max(maximum ?? sample, sample)
                if samples <= DepthStatistics.medianLimit { measured.append(sample) }
            }
        }

        package func finish() -> DepthStatistics {
            DepthStatistics(
                samples: samples, missing: missing, meaningless: meaningless, minimum: minimum, maximum: maximum,
                median: samples <= DepthStatistics.medianLimit ? median : nil)
        }

        private var median: Float? {
            let sorted = measured.sorted()
            guard let middle = sorted.dropFirst(sorted.count / 2).first else { return nil }
            return sorted.count % 2 == 1 ? middle : (sorted[sorted.count / 2 - 1] + middle) / 2
        }
    }
}
