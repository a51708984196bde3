package import CaptureBundle
package import PictureClient
package import PictureMessages

/// A depth map in false colours: one pixel for each sample of its grid.
package struct DepthPicture: Sendable {
    package let image: PixelImage
    /// The depths of the first and the last colour in metres: the 2nd and the 98th percentile of the measured samples;
    /// nil if no sample is measured. A sample outside this range gets the colour of the nearer end.
    package let span: ClosedRange<Float>?
    package let colours: ColourTable
    /// Whether any sample is not measured.
    package let hasGaps: Bool

    /// The colour of samples that are not measured.
    package static let gap = Pixel(hex: 0x505050)

    /// - Parameter orientation: The EXIF orientation by which the picture is turned and mirrored.
    package init?(_ samples: DepthSamples, _ colours: ColourTable, orientation: Int) {
        let measured = samples.measured
        let nearest = DepthGrid.percentile(2, of: measured)
        let farthest = DepthGrid.percentile(98, of: measured)
        let span = nearest.flatMap { nearest in farthest.map { nearest...$0 } }
        let table = colours.colours
        var rgb: [UInt8] = []
        rgb.reserveCapacity(3 * samples.grid.floats.count)
        for sample in samples.grid.floats {
            let pixel = span.flatMap { $0.place(of: sample) }.map { table[$0] } ?? Self.gap
            rgb.append(pixel.red)
            rgb.append(pixel.green)
            rgb.append(pixel.blue)
        }
        guard let image = PixelImage(width: samples.grid.width, height: samples.grid.height, rgb: rgb) else {
            return nil
        }
        self.image = image.upright(orientation)
        self.span = span
        self.colours = colours
        hasGaps = measured.count < samples.grid.floats.count
    }
}

extension ClosedRange<Float> {
    /// The index of a sample's colour in the table, 0 for the farthest … 255 for the nearest; nil if the sample is not
    /// measured.
    fileprivate func place(of sample: Float) -> Int? {
        guard DepthGrid.isMeasured(sample) else { return nil }
        guard upperBound > lowerBound else { return 255 }
        let share = (Double(upperBound) - Double(sample)) / (Double(upperBound) - Double(lowerBound))
        return Int((Swift.min(Swift.max(share, 0), 1) * 255).rounded())
    }

    /// The depth in metres at a share of the range: 0 for the nearest … 1 for the farthest.
    func depth(at share: Double) -> Double { Double(lowerBound) + (Double(upperBound) - Double(lowerBound)) * share }
}

extension PhotoFacts {
    /// The orientation of the depth map of this photo: the photo's own, because both are stored alike. The exception is
    /// a depth map that is already upright: EXIF turns the photo by a quarter, and the sides of the depth map are those
    /// of the turned photo. Its orientation is 1.
    package func orientation(ofDepth depth: DepthSize) -> Int {
        guard let orientation else { return 1 }
        guard (5...8).contains(orientation), let size else { return orientation }
        let isTurned =
            depth.width > depth.height && size.width < size.height
            || depth.width < depth.height && size.width > size.height
        return isTurned ? 1 : orientation
    }
}
