import CaptureBundle
import CaptureTestSupport
import Testing

/// Turning, repeating and resizing of pictures.
struct PixelImageTests {
    /// A picture whose pixels are numbered, row by row.
    private static func numbered(_ width: Int, _ height: Int) throws -> PixelImage {
        let rgb = (0..<UInt8(width * height)).flatMap { number -> [UInt8] in [number, 255 - number, 7] }
        return try #require(PixelImage(width: width, height: height, rgb: rgb))
    }

    private static func numbers(_ image: PixelImage) -> [UInt8] {
        (0..<image.height).flatMap { row in (0..<image.width).map { image[$0, row].red } }
    }

    /// What the letters of EXIF's orientation mean for the picture 0 1 2 / 3 4 5.
    @Test(arguments: [
        (1, 3, [0, 1, 2, 3, 4, 5]), (2, 3, [2, 1, 0, 5, 4, 3]), (3, 3, [5, 4, 3, 2, 1, 0]),
        (4, 3, [3, 4, 5, 0, 1, 2]), (5, 2, [0, 3, 1, 4, 2, 5]), (6, 2, [3, 0, 4, 1, 5, 2]),
        (7, 2, [5, 2, 4, 1, 3, 0]), (8, 2, [2, 5, 1, 4, 0, 3]), (0, 3, [0, 1, 2, 3, 4, 5]),
        (9, 3, [0, 1, 2, 3, 4, 5]),
    ])
    func isTurnedAsEXIFSays(_ orientation: Int, _ width: Int, _ expected: [UInt8]) throws {
        let turned = try Self.numbered(3, 2).upright(orientation)
        #expect(turned.width == width && Self.numbers(turned) == expected)
    }

    @Test func repeatsPixels() throws {
        let large = try #require(Self.numbered(2, 1).repeated(3))
        #expect(large.width == 6 && large.height == 3 && Self.numbers(large).prefix(6) == [0, 0, 0, 1, 1, 1])
        #expect(try Self.numbered(2, 1).repeated(PixelImage.sideLimit) == nil)
    }

    @Test func picksTheNearestPixels() throws {
        #expect(Self.numbers(try #require(Self.numbered(6, 1).picked(width: 2, height: 1))) == [1, 4])
        #expect(Self.numbers(try #require(Self.numbered(2, 1).picked(width: 4, height: 1))) == [0, 0, 1, 1])
    }

    @Test func mixesPixelsWhenItResizes() throws {
        let grey = try #require(PixelImage(width: 40, height: 30, filledWith: Pixel(90, 91, 92)))
        for (width, height) in [(13, 7), (160, 3), (1, 1), (40, 30)] {
            let image = try #require(grey.resized(width: width, height: height))
            #expect(image == PixelImage(width: width, height: height, filledWith: Pixel(90, 91, 92)))
        }
        var halves = try #require(PixelImage(width: 8, height: 1, filledWith: Pixel(0, 0, 0)))
        for column in 4..<8 { halves[column, 0] = Pixel(200, 200, 200) }
        let half = try #require(halves.resized(width: 1, height: 1))
        #expect(half[0, 0] == Pixel(100, 100, 100))
        let wide = Self.numbers(try #require(halves.resized(width: 32, height: 1)))
        #expect(wide.sorted() == wide && wide.first == 0 && wide.last == 200 && Set(wide).count > 2)
        #expect(halves.resized(width: 0, height: 1) == nil)
        #expect(halves.resized(width: 1, height: PixelImage.sideLimit + 1) == nil)
    }
}
