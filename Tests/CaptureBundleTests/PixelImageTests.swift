import CaptureBundle
import CaptureTestSupport
import PictureClient
import PictureMessages
import Testing

/// Resizing of pictures. A judge of Tests/Judges compares how they are turned.
struct PixelImageTests {
    private static func numbers(_ image: PixelImage) -> [UInt8] {
        (0..<image.height).flatMap { row in (0..<image.width).map { image[$0, row].red } }
    }

    @Test func mixesPixelsWhenItResizes() throws {
        let grey = try #require(PixelImage(width: 40, height: 30, filledWith: Pixel(90, 91, 92)))
        for (width, height) in [(13, 7), (160, 3), (1, 1), (40, 30)] {
            let image = try #require(grey.resized(width: width, height: height))
            #expect(image == PixelImage(width: width, height: height, filledWith: Pixel(90, 91, 92)))
        }
        var halves = try #require(PixelImage(width: 8, height: 1, filledWith: Pixel(0, 0, 0)))
        for place in 12..<24 { halves.rgb[place] = 200 }
        let half = try #require(halves.resized(width: 1, height: 1))
        #expect(half[0, 0] == Pixel(100, 100, 100))
        let wide = Self.numbers(try #require(halves.resized(width: 32, height: 1)))
        #expect(wide.sorted() == wide && wide.first == 0 && wide.last == 200 && Set(wide).count > 2)
        #expect(halves.resized(width: 0, height: 1) == nil)
        #expect(halves.resized(width: 1, height: PixelImage.sideLimit + 1) == nil)
    }
}
