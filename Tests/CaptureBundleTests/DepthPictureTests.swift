import CaptureBundle
import CaptureTestSupport
import Testing

/// Depth maps in false colours. A judge of Tests/Judges compares the colours with the published ones.
struct DepthPictureTests {
    private static func picture(
        _ width: Int, _ height: Int, _ floats: [Float], _ colours: ColourTable = .cividis
    ) throws -> DepthPicture {
        let samples = try #require(try DepthSamplesTests.samples(width, height, floats))
        return try #require(DepthPicture(samples, colours))
    }

    /// Of 101 depths, 2 on each side are beyond the percentiles.
    @Test func clipsAtThePercentiles() throws {
        let picture = try Self.picture(101, 1, (0...100).map { Float($0 + 1) })
        #expect(picture.span?.nearest == 3 && picture.span?.farthest == 99)
        #expect(picture.image[0, 0] == picture.image[2, 0] && picture.image[2, 0] != picture.image[6, 0])
        #expect(picture.image[98, 0] == picture.image[100, 0])
    }

    @Test(arguments: [Float.nan, 0, -0.0, -3, .infinity, -.infinity])
    func isGreyWhereNothingIsMeasured(_ sample: Float) throws {
        let picture = try Self.picture(2, 1, [sample, 2])
        #expect(picture.hasGaps && picture.image[0, 0] == DepthPicture.gap)
        let grey = DepthPicture.gap
        #expect(grey.red == grey.green && grey.green == grey.blue)
        #expect(ColourTable.allCases.allSatisfy { $0.colours.allSatisfy { $0 != grey } })
        let empty = try Self.picture(2, 1, [sample, .nan])
        #expect(empty.span == nil && empty.image[0, 0] == DepthPicture.gap)
    }

    /// The corner of the depth picture is at a known place: one margin from the left and the top.
    @Test func showsEachSampleAsASquare() throws {
        let picture = try Self.picture(4, 3, (1...12).map { Float($0) })
        let alone = try PictureComposition.alone(picture)
        for row in 0..<3 {
            for column in 0..<4 {
                let colour = picture.image[column, row]
                #expect(alone[12 + column * 192, 12 + row * 192] == colour)
                #expect(alone[12 + column * 192 + 191, 12 + row * 192 + 191] == colour)
            }
        }
    }
}
