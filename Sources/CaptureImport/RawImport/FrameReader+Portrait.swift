import CaptureBundle
import CaptureNative
import PictureClient
import PictureMessages
import SystemPackage

/// Reads a depth map inside the photo (Spec/raw-captures.md section 6).
extension FrameReader {
    mutating func depthInside(_ photo: FramePhoto, _ file: FilePath) throws(BundleError) -> DepthFloats {
        if let original = photo.original {
            guard let grid = original.depth, let codes = original.codes else { throw Self.noDepth(photo, file) }
            portrait = original.portrait
            return try floats(grid, codes, file)
        }
        guard let found = PortraitDepth.find(in: photo.bytes) else { throw Self.noDepth(photo, file) }
        let grid: SampleGrid
        do {
            grid = try decoder.samples(Array(photo.bytes[found.picture]), .jpeg)
        } catch {
            throw error.error(file, code: .rawDepth)
        }
        portrait = found
        return try floats(grid, DepthCodes(found), file)
    }

    private func floats(_ grid: SampleGrid, _ codes: DepthCodes, _ file: FilePath) throws(BundleError) -> DepthFloats {
        guard case .uint8(let values) = grid.values else {
            throw BundleError(.rawDepth, "has a depth map whose samples do not have 8 bits", file: file)
        }
        let metres = PortraitDepth.convert(
            codes: values, minimum: codes.minimum, maximum: codes.maximum, isDisparity: codes.isDisparity)
        return try DepthFloats(
            [UInt8](littleEndian: metres), grid.size,
            DepthDescription.Source(
                encoding: codes.isDisparity ? "apple-disparity-u8" : "apple-depth-u8", invalid: "zero",
                rowOrder: "top-first", scale: "1"))
    }

    private static func noDepth(_ photo: FramePhoto, _ file: FilePath) -> BundleError {
        let missing = photo.original == nil ? MultiPictureIndex.missing(in: photo.bytes) : 0
        guard missing == 0 else {
            return BundleError(
                .rawDepth,
                "lists \(missing) more picture\(missing == 1 ? "" : "s") than it has, such as a depth map: another program rewrote the photo",
                file: file, cause: .rewrittenPhoto)
        }
        return BundleError(
            .rawDepth, "is a photo without a depth map of a kind that pack knows (Apple portrait)", file: file,
            cause: .noDepthInside)
    }
}

/// What the codes 0 and 255 of a depth map inside a photo mean.
struct DepthCodes {
    let minimum: Double
    let maximum: Double
    let isDisparity: Bool

    init(_ found: PortraitDepth) {
        (minimum, maximum, isDisparity) = (found.minimum, found.maximum, found.isDisparity)
    }

    /// nil unless the file describes codes that are uniform in disparity or in depth.
    init?(_ picture: HEIFPicture) {
        guard let minimum = picture.depthMinimum, let maximum = picture.depthMaximum, minimum <= maximum,
            Float(minimum).isFinite, Float(maximum - minimum).isFinite,
            let isDisparity = picture.isDisparity
        else { return nil }
        (self.minimum, self.maximum, self.isDisparity) = (minimum, maximum, isDisparity)
    }
}
