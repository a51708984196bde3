import CaptureNative
import SystemPackage

/// The layout of any other folder, whose file names the user gives (Spec/raw-captures.md section 4).
struct GenericLayout {
    static let name = "generic"

    let patterns: CapturePatterns

    /// Finds the frames.
    ///
    /// - Throws: `raw.layout` if no file matches the pattern of the photo.
    func export(_ tree: RawTree) throws(BundleError) -> RawExport {
        let photos = Set(patterns.photo.matches(in: tree))
        guard !photos.isEmpty else {
            let what = patterns.photo.hasStar ? "no file matches" : "has no file"
            throw BundleError(
                .rawLayout, "\(what) --photo \(patterns.photo)", file: tree.root,
                hints: [#"names are relative to RAW and * stands for a part without /; quote them: 'rgb/*.jpg'"#])
        }
        let depths = Set(patterns.depth?.matches(in: tree) ?? [])
        let confidences = Set(patterns.confidence?.matches(in: tree) ?? [])
        let names = photos.union(depths).sorted { $0.lexicographicallyPrecedes($1) }
        try FrameCount.check(names.count, in: tree)
        var frames = names.map { name in
            var frame = RawFrame()
            if patterns.photo.hasStar {
                frame.name = String(decoding: name, as: UTF8.self)
                frame.number = Self.number(name)
            }
            frame.photo = photos.contains(name) ? patterns.photo.path(name) : nil
            frame.depth = patterns.depth?.path(name).map { RawFrame.DepthFile(path: $0) }
            frame.confidence = confidences.contains(name) ? patterns.confidence?.path(name) : nil
            return frame
        }
        if frames.allSatisfy({ $0.number != nil }) { frames.sort { ($0.number ?? 0) < ($1.number ?? 0) } }
        return RawExport(
            frames: frames, isSingle: !patterns.photo.hasStar, metadata: try metadata(in: tree))
    }

    /// The path of metadata.json, if it has one of our members. Apps write other files with this name.
    private func metadata(in tree: RawTree) throws(BundleError) -> FilePath? {
        let path = CapbundleLayout.metadata
        guard tree.holds(path) else { return nil }
        let root = try tree.json(path)
        return root["captured_at"] != nil || root["device_model"] != nil ? path : nil
    }

    private static func number(_ name: [UInt8]) -> Int? {
        guard !name.isEmpty, name.count <= 18, name.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return Int(String(decoding: name, as: UTF8.self))
    }
}
