import CaptureBundle
import Glibc

/// Statistics of a depth map's samples. They are for people and never part of a verdict.
public struct DepthStatistics: Hashable, Sendable {
    public private(set) var samples = 0
    /// The number of samples that were not measured: NaN or 0.
    public private(set) var missing = 0
    /// The number of samples below 0 or infinite. They have no meaning, and the other statistics ignore them.
    public private(set) var meaningless = 0
    /// The smallest and largest measured sample in metres; nil if no sample is measured.
    public private(set) var minimum: Float?
    public private(set) var maximum: Float?
    /// The median of the measured samples. It is also nil above `medianLimit` samples, because computing it would need
    /// all of them in memory.
    public private(set) var median: Float?

    public static let medianLimit = 1 << 22

    public var missingShare: Double { samples == 0 ? 0 : Double(missing) / Double(samples) }
    /// The share of samples that are neither missing nor meaningless.
    public var measuredShare: Double {
        samples == 0 ? 0 : Double(samples - missing - meaningless) / Double(samples)
    }

    /// Collects samples. `medianLimit` bounds its memory.
    struct Collector {
        private var found = DepthStatistics()
        private var measured: [Float] = []

        mutating func add(_ sample: Float) {
            found.samples += 1
            if sample.isNaN || sample == 0 {
                found.missing += 1
            } else if sample < 0 || sample.isInfinite {
                found.meaningless += 1
            } else {
                found.minimum = Swift.min(found.minimum ?? sample, sample)
                found.maximum = Swift.max(found.maximum ?? sample, sample)
                if found.samples <= DepthStatistics.medianLimit { measured.append(sample) }
            }
        }

        func finish() -> DepthStatistics {
            var found = found
            if found.samples <= DepthStatistics.medianLimit { found.median = median }
            return found
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

/// Counts the layers of a scene: the peaks in a histogram of its depths, as a RealityCam server does
/// (Spec/command-line.md, "The RealityCam analysis").
enum DepthLayers {
    private static let bins = 50
    /// A peak is higher than this share of the highest bin.
    private static let leastShare = 0.05

    /// - Parameters:
    ///   - samples: Depths in metres, all of them in `least` … `most`.
    static func count(_ samples: [Double], from least: Double, to most: Double) -> Int {
        guard most > least else { return 0 }
        let width = (most - least) / Double(bins)
        var histogram = [Int](repeating: 0, count: bins)
        for sample in samples { histogram[min(Int((sample - least) / width), bins - 1)] += 1 }
        let smooth = smoothed(histogram)
        let threshold = leastShare * (smooth.max() ?? 0)
        return smooth.indices.count { index in
            let height = smooth[index]
            let isAboveLeft = index == 0 || height > smooth[index - 1]
            let isAboveRight = index == bins - 1 || height > smooth[index + 1]
            return height > threshold && isAboveLeft && isAboveRight
        }
    }

    /// The mean of each bin and its two neighbours. The missing neighbour at an end is replaced by the bin itself.
    private static func smoothed(_ histogram: [Int]) -> [Double] {
        histogram.indices.map { index in
            let left = histogram[max(index - 1, 0)]
            let right = histogram[min(index + 1, bins - 1)]
            return Double(left + histogram[index] + right) / 3
        }
    }
}

/// Measures the share of samples at edges, as a RealityCam server does (Spec/command-line.md, "The RealityCam
/// analysis").
enum EdgeCoherence {
    /// The slope above which a sample is at an edge, in metres for each sample.
    private static let slope = 0.1
    /// The depth in metres above which a neighbour is used. The server rounds it to 32 bits.
    private static let nearest = Double(Float(0.1))

    /// Computes the edge coherence.
    ///
    /// - Parameter floats: The samples, `width * height` of them.
    static func of(_ floats: [Float], _ size: DepthSize) -> Double {
        let width = size.width
        guard width >= 3, size.height >= 3 else { return 0 }
        var centres = 0
        var edges = 0
        for row in 1..<(size.height - 1) {
            for place in (row * width + 1)..<(row * width + width - 1) where DepthAnalysis.isUsed(floats[place]) {
                centres += 1
                let across = difference(floats[place - 1], floats[place + 1])
                let down = difference(floats[place - width], floats[place + width])
                if (across * across + down * down).squareRoot() > slope { edges += 1 }
            }
        }
        guard centres > 0 else { return 0 }
        return min(max(1 - exp(-30 * Double(edges) / Double(centres)), 0), 1)
    }

    /// The slope between two neighbours of a sample; 0 if one of them is not used.
    private static func difference(_ before: Float, _ after: Float) -> Double {
        let (before, after) = (Double(before), Double(after))
        guard before.isFinite, after.isFinite, before > nearest, after > nearest else { return 0 }
        return (after - before) / 2
    }
}
