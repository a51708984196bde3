package import CaptureBundle
package import CaptureDevice
package import PictureClient
import SystemPackage

/// Reads one frame of a RAW into a capture that can be packed: photo, depth map, confidence, facts, carried files
/// (Spec/raw-captures.md sections 3 and 5 to 7).
package struct FrameReader {
    let source: RawSource
    let tree: RawTree
    let export: RawExport
    let frame: RawFrame
    let options: RawCaptureOptions
    let decoder: PictureDecoder
    var remarks = RemarkList()
    var carried = CarriedFiles()
    /// The description of a depth map inside the photo.
    var portrait: PortraitDepth?

    /// - Throws: `raw.capture`, `raw.depth`, `raw.unit`, `raw.time`, `raw.position`, `input.unreadable`,
    ///   `decoder.missing`; all faults that were found are in the error.
    package static func read(
        _ frame: RawFrame, of source: RawSource, _ options: RawCaptureOptions, _ decoder: PictureDecoder
    ) throws(BundleError) -> RawCapture {
        if let problem = frame.problem { throw problem }
        let capture = try readFiles(frame, of: source, options, decoder)
        return try capture.judgingPosition(options, in: source.raw).marking(options.withholdable, in: source.raw)
    }

    private static func readFiles(
        _ frame: RawFrame, of source: RawSource, _ options: RawCaptureOptions, _ decoder: PictureDecoder
    ) throws(BundleError) -> RawCapture {
        switch source.contents {
        case .plainFolder: return try RawCaptureReader.read(source.raw, options)
        case .frames(let tree, let export):
            var reader = FrameReader(
                source: source, tree: tree, export: export, frame: frame, options: options, decoder: decoder)
            return try reader.read()
        }
    }

    /// Reads the frame. All its files are checked, even if one of them is wrong.
    private mutating func read() throws(BundleError) -> RawCapture {
        var faults = FaultList()
        let photo = faults.attempt { () throws(BundleError) in try readPhoto() }
        let own = faults.attempt { () throws(BundleError) in try readMetadata() }
        // If the photo cannot be read, a depth map inside it cannot be read either.
        let hasSource = photo != nil || !frame.hasDepthInside
        let depth =
            hasSource
            ? faults.attempt { () throws(BundleError) in try readDepth(photo, said: own?["depth_map_dimensions"]) }
            : nil
        _ = faults.attempt { () throws(BundleError) in try readConfidence() }
        _ = faults.attempt { () throws(BundleError) in try carryAppFiles() }
        guard let photo, let own, let depth else { throw faults.joined }
        let sheet = faults.attempt { () throws(BundleError) in try facts(own, photo, depth) }
        guard faults.faults.isEmpty, let sheet else { throw faults.joined }
        if let depth { PhotoRemarks.turned(depth.size, photo.structure, file: depth.file, &remarks) }
        return RawCapture(
            origin: RawCapture.Origin(layout: layout, frame: frame.name), photo: photo.capture, depth: depth,
            carried: carried.files, metadataFile: metadataFile,
            metadata: sheet.canonical, capturedAt: sheet.metadata.capturedAt, deviceModel: sheet.metadata.deviceModel,
            position: sheet.position, remarks: remarks.remarks)
    }

    var layout: String { source.layout }

    func label(_ path: FilePath) -> FilePath { tree.label(path) }

    /// The file that messages about this frame alone name.
    var photoFile: FilePath { frame.photo.map(label) ?? tree.root }

    /// The file that messages about facts name.
    var metadataFile: FilePath {
        if let own = export.metadata { return label(own) }
        return photoFile
    }

    func wrong(_ path: FilePath, _ message: String, hints: [Hint] = []) -> BundleError {
        BundleError(.rawCapture, message, file: label(path), hints: hints)
    }

    /// The members of a metadata.json of our own form; empty if there is none. A member with null counts as missing.
    private func readMetadata() throws(BundleError) -> JSONValue {
        guard let path = export.metadata else { return .object([]) }
        let root = try tree.json(path, limit: BundleLimits.metadataBytes)
        guard let members = root.members else { throw wrong(path, "is \(root.kind), expected an object") }
        return .object(members.filter { if case .null = $0.value { false } else { true } })
    }

    /// Reads the confidence map, which is packed byte for byte.
    private mutating func readConfidence() throws(BundleError) {
        guard let path = frame.confidence, !options.withoutDepth, tree.holds(path) else { return }
        let bytes = try tree.read(path, limit: FileLimits.confidence)
        guard try ConfidenceMap.accepts(bytes, file: label(path), options, &remarks) else { return }
        try carried.add(.confidence, bytes)
    }
}
