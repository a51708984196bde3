import CaptureBundle
import CapturePages
import CaptureTestSupport
import Testing

/// A depth map that is collected in pieces, to be shown.
struct DepthSamplesTests {
    static func samples(_ width: Int, _ height: Int, _ floats: [Float], piece: Int = 7) throws -> DepthSamples? {
        var collector = DepthCollector(size: try #require(DepthSize(width: width, height: height)))
        let bytes = RawFolder.floats(floats)
        for start in stride(from: 0, to: bytes.count, by: piece) {
            collector.add(Array(bytes[start..<min(start + piece, bytes.count)]).span)
        }
        return collector.finish()
    }

    @Test(arguments: [1, 3, 4, 1000])
    func keepsEverySampleHoweverItArrives(_ piece: Int) throws {
        let floats: [Float] = [0.5, .nan, 0, -1, .infinity, 2.5]
        let samples = try #require(try Self.samples(3, 2, floats, piece: piece))
        #expect(samples.grid.floats.map(\.bitPattern) == floats.map(\.bitPattern))
        #expect(samples.measured == [0.5, 2.5] && samples.isComplete)
        #expect(samples.statistics.missing == 2 && samples.statistics.meaningless == 2)
    }

    @Test func takesEverySecondSampleOfALargeMap() throws {
        let width = DepthGrid.sideLimit + 2
        let floats = (0..<(3 * width)).map { Float($0) }
        let samples = try #require(try Self.samples(width, 3, floats, piece: 65536))
        #expect(samples.grid.step == 2 && samples.grid.width == width / 2 && samples.grid.height == 2)
        #expect(Array(samples.grid.floats[..<2]) == [0, 2])
        #expect(samples.grid.floats[samples.grid.width] == Float(2 * width))
        #expect(!samples.isComplete && samples.analysis == nil)
    }

    @Test func isNothingWithoutTheLastSample() throws {
        #expect(try Self.samples(3, 2, [1, 2, 3, 4, 5]) == nil)
    }

    @Test func isPlausibleAsVerifyJudgesIt() throws {
        #expect(try #require(try Self.samples(2, 1, [1, 2])).implausibility == nil)
        let millimetres = try #require(try Self.samples(2, 1, [1000, 2000]))
        #expect(!millimetres.isPlausible && millimetres.implausibility?.contains("above 100 m") == true)
    }

    @Test func takesThePercentileOfTheNearestRank() {
        for (percent, count, expected) in [(25, 4, 1), (75, 4, 3), (2, 4, 1), (98, 4, 4), (2, 101, 3), (98, 50, 49)] {
            #expect(DepthGrid.percentile(percent, of: (1...count).map { Float($0) }) == Float(expected))
        }
        #expect(DepthGrid.percentile(25, of: []) == nil)
    }
}
