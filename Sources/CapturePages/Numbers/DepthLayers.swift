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
