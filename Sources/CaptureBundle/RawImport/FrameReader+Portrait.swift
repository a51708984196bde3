import CaptureNative
import SystemPackage

/// A depth map inside the photo (Spec/raw-captures.md section 6).
extension FrameReader {
    mutating func depthInside(_ photo: FramePhoto, _ file: FilePath) throws(BundleError) -> DepthFloats {
        guard let found = PortraitDepth.find(in: photo.bytes) else { throw Self.noDepth(file) }
        let grid: SampleGrid
        do {
            grid = try decoder.samples(Array(photo.bytes[found.picture]), .jpeg)
        } catch {
            throw error.error(file, code: .rawDepth)
        }
        return try floats(grid, found, file)
    }

    private mutating func floats(
        _ grid: SampleGrid, _ found: PortraitDepth, _ file: FilePath
    ) throws(BundleError) -> DepthFloats {
        guard case .uint8(let codes) = grid.values else {
            throw BundleError(.rawDepth, "has a depth map whose samples do not have 8 bits", file: file)
        }
        portrait = found
        return DepthFloats(
            floats: [UInt8](littleEndian: found.convert(codes: codes)), size: grid.size,
            source: DepthDescription.Source(
                encoding: found.isDisparity ? "apple-disparity-u8" : "apple-depth-u8", invalid: "zero",
                rowOrder: "top-first", scale: "1"))
    }

    private static func noDepth(_ file: FilePath) -> BundleError {
        let folder = FolderContents(file.folder)
        let known = folder?.isRawCapture == true ? folder?.hints ?? [] : []
        return BundleError(
            .rawDepth, "is a photo without a depth map of a kind that pack knows (Apple portrait)", file: file,
            hints: known + ["use --no-depth to pack the photo alone"])
    }
}
