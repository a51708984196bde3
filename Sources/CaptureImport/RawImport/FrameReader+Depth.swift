import CaptureBundle
import CaptureDevice
import SystemPackage

/// Reads the depth map of a frame.
extension FrameReader {
    /// - Parameters:
    ///   - photo: Needed only for a depth map inside it.
    ///   - own: The members of a metadata.json of our own form; nil if it cannot be read.
    ///   - metadata: The same with all facts; nil if some of them are wrong.
    /// - Returns: nil if the user wants no depth map (`--no-depth`), or if its size is unknown because of a fault in
    ///   metadata.json.
    mutating func readDepth(
        in photo: FramePhoto?, own: JSONValue?, metadata: CaptureMetadata?
    ) throws(BundleError) -> RawCapture.Depth? {
        if options.withoutDepth {
            if export.search != nil, let path = frame.depth?.path {
                noteIgnored(label(path), "left out because of --no-depth")
            }
            return nil
        }
        let read: DepthFloats? =
            if frame.hasDepthInside, let photo { try depthInside(photo) } else { try readFile(own, metadata) }
        guard let made = read else { return nil }
        let file = made.depth.file
        try compare(made.depth.size, with: metadata?.depthSize, file: file)
        DepthRemarks.size(made.depth.size, file: file, &remarks)
        for note in made.notes { remarks.add(.note, "raw.samples", file: file, message: note) }
        if frame.depth?.isUnitAssumed == true, options.depthScale == nil {
            let message = "its integers are read as millimetres; --depth-scale METRES says otherwise"
            remarks.add(.note, Remark.depthUnit, file: file, message: message)
        }
        let turn = photo?.structure.exif?.orientation ?? 1
        if let own = made.orientation, own != turn {
            let message =
                "has the orientation \(own) in its eXIf, but the photo has \(turn); it is packed as it is stored"
            remarks.add(.note, "raw.turned", file: file, message: message)
        }
        DepthRemarks.survey(made, &remarks)
        return made.depth
    }

    private mutating func readFile(
        _ own: JSONValue?, _ metadata: CaptureMetadata?
    ) throws(BundleError) -> DepthFloats? {
        var faults: [BundleError] = []
        let known = faults.attempt { try statedSize(own, metadata?.depthSize) }
        let size = known ?? nil
        let depth = faults.attempt { try depthFile(size) }
        guard let depth else { throw faults.joined }
        let mayBeSaid = metadata == nil && (own == nil || export.metadata != nil)
        if size == nil, known == nil || mayBeSaid, DepthFileReader.needsSize(depth.path) {
            // Without a size, it can still be seen that it is something else.
            _ = faults.attempt {
                _ = try tree.handle(depth.path)
                if let error = export.search?.otherKind(depth.path, nil) { throw error }
            }
            if faults.isEmpty { return nil }
        }
        guard faults.isEmpty else { throw faults.joined }
        let made: DepthFloats
        do throws(BundleError) {
            made = try DepthFileReader(file: depth, size: size, options: options, decoder: decoder, tree: tree).read()
        } catch {
            throw export.search?.otherKind(depth.path, size) ?? error
        }
        // The bundle has the samples of a depth.f32 anyway.
        if options.keepsSource, depth.path != CapbundleLayout.floats {
            try carried.addSource(depth.path, tree.read(depth.path, limit: FileLimits.depth))
        }
        return made
    }

    private func depthFile(_ size: DepthSize?) throws(BundleError) -> RawFrame.DepthFile {
        guard let depth = frame.depth else {
            if let search = export.search { throw search.missingDepth(size) }
            let within = options.matchWithin.map { " within \($0) of its time" } ?? ""
            throw BundleError(.rawCapture, "has no depth map\(within)", file: photoFile, cause: noDepth)
        }
        guard depth.faults.isEmpty else { throw depth.faults.joined }
        guard tree.has(depth.path) else {
            throw BundleError(
                .rawCapture, "missing; it is the depth map of this frame", file: label(depth.path), cause: noDepth)
        }
        return depth
    }

    /// nil if other frames have a depth map: then it is missing here.
    private var noDepth: BundleError.Cause? {
        export.frames.contains { $0.depth.map { tree.has($0.path) } ?? false } ? nil : .noDepth
    }

    /// The size for files that do not contain it.
    private func statedSize(
        _ own: JSONValue?, _ said: CaptureMetadata.Dimensions?
    ) throws(BundleError) -> DepthSize? {
        func wrong(_ words: String, _ cause: BundleError.Cause? = nil) -> BundleError {
            BundleError(.rawCapture, "depth_map_dimensions is \(words)", file: metadataFile, cause: cause)
        }
        if let given = options.depthSize {
            if let said, said != given.pixels {
                throw wrong("\(said), but --depth-size says \(given)")
            }
            return given
        }
        if let said {
            guard let size = DepthSize(width: said.width, height: said.height) else {
                throw wrong("\(said), each side must be 1 to \(BundleLimits.depthSide)")
            }
            return size
        }
        let path = frame.depth?.path ?? CapbundleLayout.floats
        if export.search != nil, export.metadata != nil, let own, own["depth_map_dimensions"] == nil,
            DepthFileReader.needsSize(path)
        {
            throw wrong("missing, expected the width and height of \(path)", .noDepthSize)
        }
        return frame.depth?.size
    }

    /// Refuses samples whose size differs from `--depth-size` or metadata.json.
    private func compare(
        _ size: DepthSize, with said: CaptureMetadata.Dimensions?, file: FilePath
    ) throws(BundleError) {
        if let given = options.depthSize, given != size {
            throw BundleError(.rawCapture, "is \(size), but --depth-size says \(given)", file: file)
        }
        if let said, said != size.pixels {
            throw BundleError(
                .rawCapture, "is \(size), but depth_map_dimensions in metadata.json is \(said)", file: file)
        }
    }
}
