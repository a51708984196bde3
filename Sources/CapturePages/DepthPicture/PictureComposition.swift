import PictureClient
package import PictureMessages

/// Puts a depth picture, its scale and, if wanted, the photo on one canvas.
package enum PictureComposition {
    private static let paper = Pixel(hex: 0x181a20)
    /// The minimum number of pixels on the longer side of the depth picture, when it is alone.
    private static let leastSide = 768
    private static let leastSideBeside = 512

    /// The height that the photo needs next to the depth picture; a larger photo is made smaller.
    package static func heightBeside(_ depth: DepthPicture) -> Int {
        depth.image.height * factor(of: depth, leastSideBeside)
    }

    /// How often each pixel of the depth picture is repeated in both directions.
    private static func factor(of depth: DepthPicture, _ least: Int) -> Int {
        let longer = max(depth.image.width, depth.image.height)
        return (least + longer - 1) / longer
    }

    /// The depth picture with its scale, and the photo before it, with the same height. Returns nil for a picture that
    /// would have more than `PixelImage.sideLimit` pixels on one side.
    ///
    /// - Parameter photo: The upright photo, in any size.
    package static func picture(of depth: DepthPicture, photo: PixelImage?) -> PixelImage? {
        let factor = factor(of: depth, photo == nil ? leastSide : leastSideBeside)
        let height = depth.image.height * factor
        guard let samples = depth.image.picked(width: depth.image.width * factor, height: height) else { return nil }
        var pictures = [samples]
        if let photo {
            // A panorama gets less height, so that the canvas stays in bounds.
            let width = min(max(1, photo.width * height / photo.height), 4 * max(height, samples.width))
            let least = max(1, min(height, photo.height * width / photo.width))
            guard let fitting = photo.resized(width: width, height: least) else { return nil }
            pictures.insert(fitting, at: 0)
        }
        // The labels have to be legible when a page shows the whole canvas 800 pixels wide.
        let dot = max(2, pictures.reduce(0) { $0 + $1.width } / 340)
        let margin = 6 * dot
        let content = max(height, ScaleBar.leastHeight(dot: dot))
        let scale = ScaleBar(depth, height: content, dot: dot)
        let width = pictures.reduce(margin) { $0 + $1.width + margin } + scale.width + margin
        guard var canvas = PixelImage(width: width, height: content + 2 * margin, filledWith: paper) else {
            return nil
        }
        var left = margin
        for picture in pictures {
            canvas.paste(picture, left: left, top: margin + (content - picture.height) / 2)
            left += picture.width + margin
        }
        scale.draw(on: &canvas, left: left, top: margin, height: content)
        return canvas
    }
}

extension PixelImage {
    /// Copies a picture to a position on this one. A part that would lie outside is left out.
    mutating func paste(_ picture: PixelImage, left: Int, top: Int) {
        let columns = max(0, min(picture.width, width - left))
        for row in 0..<max(0, min(picture.height, height - top)) {
            let from = 3 * row * picture.width
            let to = 3 * ((top + row) * width + left)
            rgb.replaceSubrange(to..<(to + 3 * columns), with: picture.rgb[from..<(from + 3 * columns)])
        }
    }

    /// Fills a rectangle. A part that would lie outside is left out.
    mutating func fill(left: Int, top: Int, width: Int, height: Int, _ colour: Pixel) {
        let columns = max(0, left)..<max(0, min(left + width, self.width), left)
        let line = [UInt8](repeating: colour, count: columns.count)
        for row in max(0, top)..<max(0, min(top + height, self.height), top) {
            let start = 3 * (row * self.width + columns.lowerBound)
            rgb.replaceSubrange(start..<(start + line.count), with: line)
        }
    }

    /// Writes text in the small font.
    ///
    /// - Parameter dot: The size of a dot of the font in pixels.
    mutating func write(_ text: String, left: Int, top: Int, dot: Int, _ colour: Pixel) {
        for place in BitmapFont.dots(of: text) {
            fill(left: left + place.column * dot, top: top + place.row * dot, width: dot, height: dot, colour)
        }
    }
}
