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

    @Test func usesSamplesFromATenthOfAMetreToTwentyMetres() throws {
        let samples: [Float] = [0.1, 20, Float(0.1).nextDown, Float(20).nextUp, .nan, .infinity, -1, 0]
        let analysis = try Self.analysis(8, 1) { column, _ in samples[column] }
        #expect(analysis.used == 2 && analysis.samples == 8)
    }

    @Test func findsNoEdgesInMapsWithoutAnInside() throws {
        for (width, height) in [(2, 40), (40, 2), (1, 1)] {
            let analysis = try Self.analysis(width, height) { $0 % 2 == $1 % 2 ? 1 : 9 }
            #expect(analysis.measures?.edgeCoherence == 0)
        }
    }
}
