package import CaptureBundle
package import CaptureDevice
package import PictureClient
import SystemPackage

/// Reads one frame of a RAW into a capture that can be packed: photo, depth map, confidence, facts, carried files
/// (Spec/raw-captures.md sections 3 and 5 to 7).
package struct FrameReader {
    let source: RawSource
    let frame: RawFrame
    let layoutFacts: FrameFacts
    let options: RawCaptureOptions
    let decoder: PictureDecoder
    var remarks: [Remark] = []
    var carried = CarriedFiles()
    /// The description of a depth map inside the photo.
    var portrait: PortraitDepth?

    /// - Throws: `raw.capture`, `raw.depth`, `raw.unit`, `raw.time`, `raw.position`, `input.unreadable`,
    ///   `decoder.missing`; all faults that were found are in the error.
    package static func read(
        _ frame: RawFrame, of source: RawSource, options: RawCaptureOptions, decoder: PictureDecoder
    ) throws(BundleError) -> RawCapture {
        if let problem = source.export.search?.notACapture() { throw problem }
        var reader = FrameReader(
            source: source, frame: frame, layoutFacts: try source.export.facts(frame), options: options,
            decoder: decoder)
        var capture = try reader.read()
        try capture.checkPosition(options, in: source.raw)
        return try capture.marking(options.withholdable, in: source.raw)
    }

    /// Reads the frame. All its files are checked, even if one of them is wrong.
    private mutating func read() throws(BundleError) -> RawCapture {
        let ignored = export.ignored.prefix(4).map(\.string) + (export.ignored.count > 4 ? ["…"] : [])
        if !ignored.isEmpty { noteIgnored(tree.root, "ignored: \(ignored.joined(separator: ", "))") }
        var faults: [BundleError] = []
        let photo = faults.attempt { try readPhoto() }
        let own = faults.attempt { try readMetadata(photo) }
        // A missing fact is reported only if all files are right. In a folder of our own layout it is reported with
        // other faults, because metadata.json should have it.
        var missing: [BundleError] = []
        var sheet: (metadata: CaptureMetadata, position: GeoPosition?)?
        if let own, photo != nil || export.search != nil {
            sheet = missing.attempt { try facts(own, photo) }
            if sheet == nil, export.search != nil { faults += missing }
        }
        var depth: RawCapture.Depth?
        // If the photo cannot be read, a depth map inside it cannot be read either.
        if photo != nil || !frame.hasDepthInside {
            depth = faults.attempt { try readDepth(in: photo, own: own, metadata: sheet?.metadata) } ?? nil
        }
        _ = faults.attempt { try readConfidence() }
        _ = faults.attempt { try carryAppFiles() }
        guard faults.isEmpty, let photo else { throw faults.joined }
        guard let sheet else { throw missing.joined }
        if let depth { PhotoRemarks.turned(depth.size, photo: photo.structure, file: depth.file, &remarks) }
        return RawCapture(
            layout: layout, frame: frame.name, photo: photo.capture, depth: depth,
            carried: carried.files, metadataFile: metadataFile,
            metadata: try canonical(sheet.metadata, photo, with: depth),
            capturedAt: sheet.metadata.capturedAt, deviceModel: sheet.metadata.deviceModel,
            position: sheet.position, remarks: remarks)
    }

    mutating func noteIgnored(_ file: FilePath, _ words: String) {
        remarks.add(.note, "raw.ignored", file: file, message: words)
    }

    var tree: RawTree { source.tree }

    var export: RawExport { source.export }

    var layout: String { source.layout }

    func label(_ path: FilePath) -> FilePath { tree.label(path) }

    /// The file that messages about this frame alone name.
    var photoFile: FilePath { frame.photo.map(label) ?? tree.root }

    /// The file that messages about facts name.
    var metadataFile: FilePath { export.metadata.map(label) ?? photoFile }

    func wrong(_ path: FilePath, _ message: String) -> BundleError {
        BundleError(.rawCapture, message, file: label(path))
    }

    private static let facts: Set = ["captured_at", "depth_map_dimensions", "device_model", "location"]

    /// The members of a metadata.json of our own form; empty if there is none. A fact that is null counts as missing;
    /// other members stay as they are.
    private func readMetadata(_ photo: FramePhoto?) throws(BundleError) -> JSONValue {
        guard let path = export.metadata else {
            let hasTime = options.capturedAt != nil || options.timeFromName != nil || photo?.facts?.time != nil
            if let search = export.search, !hasTime { throw search.missingMetadata() }
            return .object([])
        }
        let root = try tree.json(path, limit: BundleLimits.metadataBytes)
        guard let members = root.members else { throw wrong(path, "is \(root.kind), expected an object") }
        return .object(members.filter { if case .null = $0.value { !Self.facts.contains($0.name) } else { true } })
    }

    /// Reads the confidence map, which is packed byte for byte. It is left out if the bundle must not tell the position
    /// and the map could.
    private mutating func readConfidence() throws(BundleError) {
        guard let path = frame.confidence, !options.withoutDepth, tree.has(path) else { return }
        let bytes = try tree.read(path, limit: FileLimits.confidence)
        let kind = FileKind(bytes)
        guard kind?.png?.bits == 8, kind?.png?.colour == .greyscale else {
            let found = kind.map { "is \($0.words)" } ?? "is not a picture"
            throw wrong(path, "\(found), expected an 8-bit greyscale PNG")
        }
        if options.hidesPosition, let words = Unlisted.confidence(bytes) {
            let location = options.location.rawValue
            return noteIgnored(label(path), "left out: it \(words), which --location \(location) does not allow")
        }
        try carried.add(.confidence, bytes)
    }
}
