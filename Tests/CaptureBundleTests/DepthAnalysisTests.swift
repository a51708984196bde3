import CaptureBundle
import CaptureTestSupport
import Testing

/// The analysis that a RealityCam server makes. A judge of Tests/Judges compares it with a second implementation.
struct DepthAnalysisTests {
    private static func analysis(
        _ width: Int, _ height: Int, _ depth: (Int, Int) -> Float
    ) throws -> DepthAnalysis {
        let size = try #require(DepthSize(width: width, height: height))
        let floats = (0..<height).flatMap { row in (0..<width).map { depth($0, row) } }
        return try #require(DepthAnalysis(floats, size: size))
    }

    @Test func takesAFlatMapForAScreen() throws {
        let flat = try Self.analysis(256, 192) { _, _ in 0.4 }
        #expect(flat.verdict == .fail && flat.looksLikeAScreen)
        #expect(flat.failures == [.standardDeviation, .layers, .edgeCoherence, .screen])
        let measures = try #require(flat.measures)
        #expect(measures.standardDeviation < 1e-6 && measures.layers == 0 && measures.edgeCoherence == 0)
        let farther = try Self.analysis(256, 192) { _, _ in 1.6 }
        #expect(!farther.looksLikeAScreen && farther.verdict == .fail)
    }

    /// Four walls side by side, 1.5 m from one to the next. In the smoothed histogram, a single depth is as high as its
    /// neighbours, and counts only at an end.
    @Test func countsNoFlatPeakAsALayer() throws {
        let walls = try Self.analysis(64, 48) { column, _ in 1 + 1.5 * Float(column / 16) }
        let measures = try #require(walls.measures)
        #expect(walls.failures == [.layers] && measures.layers == 2)
        #expect(measures.range == 4.5 && measures.mean == 3.25)
        // Two columns at each of three steps, of the 62 that have neighbours on both sides.
        #expect(abs(measures.edgeCoherence - 0.9451) < 0.0002)
    }

    @Test func takesRoughWallsForARealScene() throws {
        var generator = SeededGenerator(seed: 13)
        let walls = try Self.analysis(64, 48) { column, _ in
            1 + 1.5 * Float(column / 16) + Float.random(in: 0...0.3, using: &generator)
        }
        #expect(walls.verdict == .pass && walls.failures.isEmpty)
    }

    @Test func usesSamplesFromATenthOfAMetreToTwentyMetres() throws {
        let samples: [Float] = [0.1, 20, Float(0.1).nextDown, Float(20).nextUp, .nan, .infinity, -1, 0]
        let analysis = try Self.analysis(8, 1) { column, _ in samples[column] }
        #expect(analysis.used == 2 && analysis.samples == 8)
    }

    @Test func canSayNothingWithoutASample() throws {
        let analysis = try Self.analysis(5, 4) { column, _ in column == 0 ? .nan : 0.05 }
        #expect(analysis.verdict == .unavailable && analysis.measures == nil && analysis.failures.isEmpty)
        #expect(!analysis.looksLikeAScreen)
    }

    @Test func findsNoEdgesInMapsWithoutAnInside() throws {
        for (width, height) in [(2, 40), (40, 2), (1, 1)] {
            let analysis = try Self.analysis(width, height) { $0 % 2 == $1 % 2 ? 1 : 9 }
            #expect(analysis.measures?.edgeCoherence == 0)
        }
    }

    @Test func refusesAnotherNumberOfSamples() throws {
        #expect(try DepthAnalysis([1, 2, 3], size: #require(DepthSize(width: 2, height: 2))) == nil)
    }
}
