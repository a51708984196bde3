package import CaptureBundle

/// What a RealityCam server computes from a depth map to tell a real scene from a photographed screen
/// (Spec/command-line.md, "The RealityCam analysis"). All arithmetic is in Float64, in the server's order.
///
/// The verdict of `verify` does not depend on it.
public struct DepthAnalysis: Hashable, Sendable {
    /// The server's answer.
    public enum Answer: String, Sendable {
        case pass, fail
        /// No sample is between 0.1 and 20 m, so the server can compute nothing.
        case unavailable
    }

    /// A condition for a real scene.
    public enum Condition: String, Sendable, CaseIterable {
        case standardDeviation = "standard-deviation"
        case layers
        case edgeCoherence = "edge-coherence"
        case screen
    }

    /// The numbers that the server compares with its thresholds.
    public struct Measures: Hashable, Sendable {
        /// The population standard deviation of the used samples in metres.
        public let standardDeviation: Double
        /// The number of peaks in the smoothed histogram.
        public let layers: Int
        /// 0 … 1. A larger share of samples at edges gives a higher value.
        public let edgeCoherence: Double
        /// The largest minus the smallest used sample in metres.
        public let range: Double
        /// The share of used samples less than 0.05 m from their median.
        public let nearMedianShare: Double
        public let mean: Double
    }

    /// The thresholds of the server's code. A real scene has a larger standard deviation and edge coherence, at least
    /// as many layers, and does not look like a screen.
    public enum Threshold {
        public static let standardDeviation = 0.5
        public static let layers = 3
        public static let edgeCoherence = 0.3
        /// A depth map looks like a screen if its range is smaller than this, its share near the median is larger than
        /// `screenShare`, and its mean is in `screenMean`.
        public static let screenRange = 0.15
        public static let screenShare = 0.85
        public static let screenMean = 0.2...1.5
    }

    public let samples: Int
    /// The number of samples between 0.1 and 20 m. The others are ignored.
    public let used: Int
    /// nil if no sample is used.
    public let measures: Measures?

    /// Whether the depth map looks like a flat screen close to the camera.
    public var looksLikeAScreen: Bool {
        guard let measures else { return false }
        return measures.range < Threshold.screenRange && measures.nearMedianShare > Threshold.screenShare
            && Threshold.screenMean.contains(measures.mean)
    }

    /// The conditions that the depth map does not meet.
    public var failures: [Condition] {
        guard let measures else { return [] }
        return Condition.allCases.filter { condition in
            switch condition {
            case .standardDeviation: !(measures.standardDeviation > Threshold.standardDeviation)
            case .layers: measures.layers < Threshold.layers
            case .edgeCoherence: !(measures.edgeCoherence > Threshold.edgeCoherence)
            case .screen: looksLikeAScreen
            }
        }
    }

    public var verdict: Answer { measures == nil ? .unavailable : failures.isEmpty ? .pass : .fail }

    /// Analyses a depth map.
    ///
    /// - Parameter floats: The samples in metres, row-major, top row first.
    /// - Returns: nil if the number of samples does not match the size.
    package init?(_ floats: [Float], size: DepthSize) {
        guard floats.count == size.width * size.height else { return nil }
        samples = floats.count
        let used = floats.filter(Self.isUsed).map(Double.init)
        self.used = used.count
        measures = used.isEmpty ? nil : Self.measure(used, EdgeCoherence.of(floats, size))
    }

    /// Whether the analysis uses a sample. The server compares 32-bit floats here.
    static func isUsed(_ sample: Float) -> Bool { sample >= 0.1 && sample <= 20 }

    /// - Parameter used: At least one sample.
    private static func measure(_ used: [Double], _ coherence: Double) -> Measures {
        let count = Double(used.count)
        let mean = used.reduce(0, +) / count
        let variance = used.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / count
        let sorted = used.sorted()
        let (least, most, median) = (sorted[0], sorted[sorted.count - 1], sorted[sorted.count / 2])
        let near = used.count { abs($0 - median) < 0.05 }
        return Measures(
            standardDeviation: variance.squareRoot(), layers: DepthLayers.count(used, from: least, to: most),
            edgeCoherence: coherence, range: most - least, nearMedianShare: Double(near) / count, mean: mean)
    }
}

/// The samples of a depth map, row-major, top row first. If a side of the map is above `sideLimit`, the grid has only
/// every n-th sample of every n-th row, so its memory is bounded.
package struct DepthGrid: Sendable {
    package static let sideLimit = 2048

    package let width: Int
    package let height: Int
    package private(set) var floats: [Float] = []
    /// The number of columns and rows of the depth map for each column and row of the grid.
    package let step: Int
    private let size: DepthSize
    private var column = 0
    private var row = 0

    init(of size: DepthSize) {
        let longer = max(size.width, size.height)
        step = (longer + Self.sideLimit - 1) / Self.sideLimit
        width = (size.width + step - 1) / step
        height = (size.height + step - 1) / step
        self.size = size
    }

    mutating func add(_ sample: Float) {
        if column % step == 0 && row % step == 0 { floats.append(sample) }
        column += 1
        if column == size.width { (column, row) = (0, row + 1) }
    }

    var isComplete: Bool { column == 0 && row == size.height }

    /// Whether a sample is a distance: above 0 and finite.
    package static func isMeasured(_ sample: Float) -> Bool { sample > 0 && sample.isFinite }

    /// The percentile of measured samples by nearest rank: the smallest sample of which `percent` % of all samples are
    /// not larger.
    ///
    /// - Parameters:
    ///   - percent: 1 to 100.
    ///   - sorted: The measured samples in ascending order.
    /// - Returns: nil if `sorted` is empty.
    package static func percentile(_ percent: Int, of sorted: [Float]) -> Float? {
        // The rank is rounded up, and ranks begin with 1.
        sorted.isEmpty ? nil : sorted[(percent * sorted.count + 99) / 100 - 1]
    }
}
