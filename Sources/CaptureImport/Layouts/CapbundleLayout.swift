import CaptureBundle
package import SystemPackage

/// Our own layout: `photo.jpg`, `metadata.json`, and `depth` with an ending that gives its encoding
/// (Spec/command-line.md section 5).
package enum CapbundleLayout: RawLayout {
    static let name = "capbundle"
    static let words = "a raw folder"

    static let photo: FilePath = "photo.jpg"
    /// Photos of other kinds, which `--convert-photo` converts.
    private static let otherPhotos: [FilePath] = ["photo.heic", "photo.png"]
    static let floats: FilePath = "depth.f32"
    static let metadata: FilePath = "metadata.json"
    private static let confidence: FilePath = "confidence.png"
    /// The files of a usual raw folder. A folder that has them is ours without a further look.
    package static let usual = [photo, floats, metadata]

    /// The depth files, in the order in which they are tried.
    private static let depths = [
        "f32", "bin", "raw", "f32.gz", "gz", "zlib", "deflate", "npy", "pfm", "pgm", "png", "tif", "tiff", "exr",
    ].map { FilePath("depth.\($0)") }

    /// Endings of arrays that are not read. A depth map with one is named, with the endings that are.
    private static let others = ["mat", "h5", "hdf5", "csv", "txt", "safetensors", "pt", "f16", "f64", "dat"]

    static func evidence(in tree: RawTree) -> String? { ([photo] + otherPhotos).first(where: tree.has)?.string }

    static func export(_ tree: RawTree) -> RawExport {
        let names = tree.names().map { FilePath(root: nil, [$0]) }
        var frame = RawFrame()
        frame.photo = ([photo] + otherPhotos).first(where: names.contains)
        frame.depth = depth(depths.filter(names.contains), in: tree)
        frame.confidence = names.contains(confidence) ? confidence : nil
        let known = [frame.photo, frame.depth?.path, metadata, confidence].compactMap(\.self)
        let search = tree.isFolder ? RawFolderSearch(tree: tree, names: names.map(\.string)) : nil
        return RawExport(
            frames: [frame], isSingle: true, metadata: names.contains(metadata) ? metadata : nil,
            ignored: names.filter { !known.contains($0) }, search: search)
    }

    /// The depth file. In this layout floats are metres and the samples of a PNG are millimetres. For other integers the
    /// layout does not define a unit.
    private static func depth(_ found: [FilePath], in tree: RawTree) -> RawFrame.DepthFile? {
        guard let path = found.first else {
            let other = others.map { FilePath("depth.\($0)") }.first(where: tree.has)
            return other.map { RawFrame.DepthFile(path: $0) }
        }
        let isPNG = path == "depth.png"
        var depth = RawFrame.DepthFile(
            path: path, scale: isPNG ? .millimetres : nil, floatScale: .metres, isUnitAssumed: isPNG)
        if found.count > 1, path != floats {
            let list = found.map(\.string).joined(separator: ", ")
            depth.faults = [
                BundleError(
                    .rawCapture, "has several depth maps: \(list)", file: tree.root,
                    cause: .severalDepths, values: [path.string])
            ]
        }
        return depth
    }
}
