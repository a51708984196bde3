import CaptureBundle

/// Statistics of a depth map's samples. They are for people and never part of a verdict.
public struct DepthStatistics: Hashable, Sendable {
    public let samples: Int
    /// The number of samples that were not measured: NaN or 0.
    public let missing: Int
    /// The number of samples below 0 or infinite. They have no meaning, and the other statistics ignore them.
    public let meaningless: Int
    /// The smallest and largest measured sample in metres; nil if no sample is measured.
    public let minimum: Float?
    public let maximum: Float?
    /// The median of the measured samples. It is also nil above `medianLimit` samples, because computing it would need
    /// all of them in memory.
    public let median: Float?

    public static let medianLimit = 1 << 22

    public var missingShare: Double { samples == 0 ? 0 : Double(missing) / Double(samples) }
    /// The share of samples that are neither missing nor meaningless.
    public var measuredShare: Double {
        samples == 0 ? 0 : Double(samples - missing - meaningless) / Double(samples)
    }

    /// Collects samples. `medianLimit` bounds its memory.
    struct Collector {
        private var measured: [Float] = []
        private var minimum: Float?
        private var maximum: Float?
        private var samples = 0
        private var missing = 0
        private var meaningless = 0

        mutating func add(_ sample: Float) {
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

        func finish() -> DepthStatistics {
            DepthStatistics(
                samples: samples, missing: missing, meaningless: meaningless, minimum: minimum, maximum: maximum,
                median: samples <= DepthStatistics.medianLimit ? median : nil)
        }

        private var median: Float? {
            let sorted = measured.ascending
            guard let middle = sorted.dropFirst(sorted.count / 2).first else { return nil }
            guard sorted.count % 2 == 0 else { return middle }
            // The sum of two floats may overflow a float, so it is computed in Double; their mean always fits.
            return Float((Double(sorted[sorted.count / 2 - 1]) + Double(middle)) / 2)
        }
    }
}
