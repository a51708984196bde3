import CaptureBundle
import CaptureDevice
import SystemPackage

/// Reads the depth map of a frame.
extension FrameReader {
    /// - Parameters:
    ///   - photo: Needed only for a depth map inside it.
    ///   - said: `depth_map_dimensions` of metadata.json.
    /// - Returns: nil if the user wants no depth map (`--no-depth`).
    mutating func readDepth(_ photo: FramePhoto?, said: JSONValue?) throws(BundleError) -> RawCapture.Depth? {
        if options.withoutDepth { return nil }
        let file: FilePath
        let made: DepthFloats
        if frame.hasDepthInside, let photo, let path = frame.photo {
            file = label(path)
            made = try depthInside(photo, file)
        } else {
            let depth = try depthFile()
            file = label(depth.path)
            made = try DepthFileReader(depth, said: try size(said, depth), options, decoder).read(tree)
            if options.keepsSource {
                let bytes = try tree.read(depth.path, limit: FileLimits.depth)
                try carried.addSource(depth.path, bytes)
            }
        }
        try compare(made.size, said, file)
        DepthRemarks.size(made.size, file: file, &remarks)
        DepthRemarks.highest(made, file: file, &remarks)
        var survey = DepthSurvey()
        let floats = made.floats
        survey.add(floats.span)
        DepthRemarks.survey(survey, file: file, unitAdvice: "pack again with \(.depthUnit) mm", &remarks)
        return RawCapture.Depth(
            floats: .bytes(floats), size: made.size, sha256: try Digest.of(floats), file: file,
            source: made.source)
    }

    private func depthFile() throws(BundleError) -> RawFrame.DepthFile {
        guard let depth = frame.depth else {
            let within = options.matchWithin.map { " within \($0) of its time" } ?? ""
            throw BundleError(.rawCapture, "has no depth map\(within)", file: photoFile, hints: withoutDepth)
        }
        guard tree.holds(depth.path) else {
            throw BundleError(
                .rawCapture, "missing; it is the depth map of this frame", file: label(depth.path), hints: withoutDepth)
        }
        return depth
    }

    /// The advice to pack without a depth map, unless other frames have one: then it is missing here.
    private var withoutDepth: [Hint] {
        let others = export.frames.prefix(16).contains { $0.depth.map { tree.holds($0.path) } ?? false }
        return others ? [] : [.set(.withoutDepth)]
    }

    /// The size for files that do not contain it.
    private func size(_ said: JSONValue?, _ depth: RawFrame.DepthFile) throws(BundleError) -> DepthSize? {
        if let given = options.depthSize { return given }
        if let width = said?["width"]?.integer, let height = said?["height"]?.integer {
            guard let size = DepthSize(width: width, height: height) else {
                let limits = "each side must be 1 to \(BundleLimits.depthSide)"
                throw BundleError(
                    .rawCapture, "depth_map_dimensions is \(width)x\(height), \(limits)", file: metadataFile)
            }
            return size
        }
        return depth.size
    }

    /// Refuses samples whose size differs from `--depth-size` or metadata.json.
    private func compare(_ size: DepthSize, _ said: JSONValue?, _ file: FilePath) throws(BundleError) {
        if let given = options.depthSize, given != size {
            throw BundleError(.rawCapture, wording: "is \(size), but \(.depthSize) says \(given)", file: file.string)
        }
        guard let width = said?["width"]?.integer, let height = said?["height"]?.integer else { return }
        guard width == size.width, height == size.height else {
            throw BundleError(
                .rawCapture, "is \(size), but depth_map_dimensions in metadata.json is \(width)x\(height)", file: file)
        }
    }
}
