package import CaptureBundle

/// Collects a depth map that is read in pieces: its samples, its statistics, and whether they can be metres.
package struct DepthCollector {
    private let size: DepthSize
    private var statistics = DepthStatistics.Collector()
    private var survey = DepthSurvey()
    private var pieces = SamplePieces()
    private var grid: DepthGrid

    package init(size: DepthSize) {
        self.size = size
        grid = DepthGrid(of: size)
    }

    package mutating func add(_ bytes: Span<UInt8>) {
        survey.add(bytes)
        // This is a local copy, since the closure changes the other members.
        var pieces = self.pieces
        pieces.read(bytes) {
            statistics.add(Float(bitPattern: $0))
            grid.add(Float(bitPattern: $0))
        }
        self.pieces = pieces
    }

    /// Returns the collected depth map; nil if samples are missing.
    package func finish() -> DepthSamples? {
        guard grid.isComplete else { return nil }
        return DepthSamples(size: size, statistics: statistics.finish(), survey: survey, grid: grid)
    }
}

/// A depth map in memory, with its statistics.
package struct DepthSamples: Sendable {
    package let size: DepthSize
    package let statistics: DepthStatistics
    fileprivate let survey: DepthSurvey
    /// All samples of the depth map, or only every n-th if it is large.
    package let grid: DepthGrid

    /// Whether the grid has every sample.
    package var isComplete: Bool { grid.step == 1 }

    /// Whether the samples can be metres, by the rule of `verify --require plausible`.
    package var isPlausible: Bool { survey.isPlausible }

    /// Why the depth map is not plausible, as text with the number that shows it; nil if it is plausible.
    package var implausibility: String? { survey.isPlausible ? nil : survey.finding }

    /// The RealityCam analysis; nil for a depth map with a side above `UploadAdvice.depthSide`, which such a server
    /// refuses.
    package var analysis: DepthAnalysis? {
        guard max(size.width, size.height) <= UploadAdvice.depthSide else { return nil }
        return DepthAnalysis(grid.floats, size: size)
    }

    /// The measured samples of the grid, in ascending order.
    package var measured: [Float] { grid.floats.filter(DepthGrid.isMeasured).ascending }
}
