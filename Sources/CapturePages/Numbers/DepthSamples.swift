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

extension [Float] {
    /// The numbers, which are all above 0 and finite, in ascending order.
    ///
    /// The bits of such numbers are in the order of the numbers. They are sorted digit by digit, which takes a tenth of the
    /// time of `sorted`.
    var ascending: [Float] {
        var sorted = self
        var next = [Float](repeating: 0, count: count)
        for shift in [0, 11, 22] as [UInt32] {
            func digit(_ number: Float) -> Int { Int(number.bitPattern >> shift & 0x7ff) }
            var places = [Int](repeating: 0, count: 0x800)
            for number in sorted { places[digit(number)] += 1 }
            var start = 0
            for digit in places.indices { (places[digit], start) = (start, start + places[digit]) }
            for number in sorted {
                next[places[digit(number)]] = number
                places[digit(number)] += 1
            }
            swap(&sorted, &next)
        }
        return sorted
    }
}
