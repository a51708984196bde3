import CaptureBundle
import SystemPackage

/// The layout of a folder in which each part of a RealityCam upload is a file.
enum RealityCamLayout: RawLayout {
    static let name = "realitycam"
    static let words = "the parts of a RealityCam upload"

    private static let photos: [FilePath] = ["photo.jpg", "capture.jpg"]
    private static let depths: [FilePath] = ["depth.gz", "depth.bin"]
    private static let metadata: FilePath = "metadata.json"

    static func evidence(in tree: RawTree) -> String? {
        guard let depth = depths.first(where: tree.has), photos.contains(where: tree.has), tree.has(metadata),
            let root = try? tree.json(metadata, limit: BundleLimits.metadataBytes), root["photo_hash"]?.text != nil
        else { return nil }
        return "metadata.json with photo_hash, \(depth)"
    }

    static func export(_ tree: RawTree) throws(BundleError) -> RawExport {
        var frame = RawFrame()
        frame.photo = photos.first(where: tree.has)
        frame.photoHash = try tree.json(metadata, limit: BundleLimits.metadataBytes)["photo_hash"]?.text
        frame.depth = depths.first(where: tree.has).map { RawFrame.DepthFile(path: $0, scale: .metres) }
        return RawExport(frames: [frame], app: "RealityCam", isSingle: true, metadata: metadata)
    }
}
