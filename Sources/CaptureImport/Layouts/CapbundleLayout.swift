import CaptureBundle
import SystemPackage

/// Our own layout: `photo.jpg`, `metadata.json`, and `depth` with an ending that gives its encoding
/// (Spec/command-line.md section 5).
enum CapbundleLayout: RawLayout {
    static let name = "capbundle"
    static let words = "a raw folder"

    static let photo: FilePath = "photo.jpg"
    /// Photos of other kinds, which `--convert-photo` converts.
    static let otherPhotos: [FilePath] = ["photo.heic", "photo.png"]
    static let metadata: FilePath = "metadata.json"
    static let confidence: FilePath = "confidence.png"

    /// The endings of depth files, in the order in which they are tried.
    static let depthEndings = [
        "f32", "bin", "raw", "f32.gz", "gz", "zlib", "deflate", "npy", "pfm", "pgm", "png", "tif", "tiff", "exr",
    ]

    static func evidence(in tree: RawTree) -> String? {
        photo(in: tree)?.string
    }

    private static func photo(in tree: RawTree) -> FilePath? { ([photo] + otherPhotos).first(where: tree.holds) }

    static func export(_ tree: RawTree) throws(BundleError) -> RawExport {
        var frame = RawFrame()
        frame.photo = photo(in: tree)
        frame.depth = try depth(in: tree)
        frame.confidence = tree.holds(confidence) ? confidence : nil
        return RawExport(frames: [frame], isSingle: true, metadata: tree.holds(metadata) ? metadata : nil)
    }

    /// Whether a file could be a depth map.
    static func hasDepth(_ tree: RawTree) -> Bool { !depths(in: tree).isEmpty }

    /// Whether this layout takes a file of this name as the depth map.
    static func isDepth(_ name: String) -> Bool { depthEndings.contains { name == "depth.\($0)" } }

    private static func depths(in tree: RawTree) -> [FilePath] {
        depthEndings.map { FilePath("depth.\($0)") }.filter { tree.holds($0) }
    }

    /// The depth file of the tree. In this layout floats are metres and the samples of a PNG are millimetres. For
    /// other integers the layout does not define a unit.
    private static func depth(in tree: RawTree) throws(BundleError) -> RawFrame.DepthFile? {
        let names = depths(in: tree)
        guard let path = names.first else { return nil }
        guard names.count == 1 || path == "depth.f32" else {
            let list = names.map(\.string).joined(separator: ", ")
            throw BundleError(
                .rawCapture, "has several depth maps: \(list)", file: tree.root,
                hints: [.raw(.chooseDepth(path))])
        }
        return RawFrame.DepthFile(path: path, scale: path == "depth.png" ? "0.001" : nil, floatScale: "1")
    }
}
