import CaptureBundle
import CaptureNative
import SystemPackage

/// The layout of any other folder, whose file names the user gives (Spec/raw-captures.md section 4).
struct GenericLayout {
    static let name = "generic"

    let patterns: CapturePatterns
    let options: RawCaptureOptions

    /// Finds the frames.
    ///
    /// - Throws: `raw.layout` if no file matches one of the patterns, or no photo has a depth map.
    func export(_ tree: RawTree) throws(BundleError) -> RawExport {
        let photos = try matches(of: "--photo", patterns.photo, in: tree)
        let depths = try matches(of: "--depth", patterns.depth, in: tree)
        let confidences = try matches(of: "--confidence", patterns.confidence, in: tree)
        let nearest = nearest(photos, depths)
        let lookalikes = nearest == nil ? lookalikes(photos, depths) : [:]
        if patterns.depth != nil, !options.withoutDepth, lookalikes.isEmpty,
            nearest?.isEmpty ?? photos.isDisjoint(with: depths)
        {
            throw noPair(tree)
        }
        let others = nearest.map { depths.subtracting($0.values.map(\.depth)) } ?? depths
        // A depth map that no photo has is a frame without a photo, and is counted.
        let alone = others.subtracting(photos).subtracting(lookalikes.values)
        let names = photos.union(alone).sorted { $0.lexicographicallyPrecedes($1) }
        try FrameCount.check(names.count, in: tree)
        var frames = names.map { name in
            var frame = RawFrame()
            if patterns.photo.hasStar {
                let text = String(decoding: name, as: UTF8.self)
                (frame.name, frame.number) = (text, text.number(digits: 1...18))
            }
            frame.photo = photos.contains(name) ? patterns.photo.path(name) : nil
            let depth = nearest == nil ? name : nearest?[name]?.depth
            frame.depth = (lookalikes[name] ?? depth).flatMap { patterns.depth?.path($0) }
                .map { RawFrame.DepthFile(path: $0, timeOffset: nearest?[name]?.offset) }
            if let other = lookalikes[name], let path = frame.depth?.path {
                frame.depth?.faults = [otherForm(other, than: name, tree.label(path))]
            }
            frame.confidence = depth.flatMap { confidences.contains($0) ? patterns.confidence?.path($0) : nil }
            return frame
        }
        if frames.allSatisfy({ $0.number != nil }) { frames.sort { ($0.number ?? 0) < ($1.number ?? 0) } }
        return RawExport(
            frames: frames, isSingle: !patterns.photo.hasStar, metadata: try metadata(in: tree))
    }

    /// The path of metadata.json, if it has one of our members. Apps write other files with this name.
    private func metadata(in tree: RawTree) throws(BundleError) -> FilePath? {
        let path = CapbundleLayout.metadata
        guard tree.has(path) else { return nil }
        let root = try tree.json(path)
        return root["captured_at"] != nil || root["device_model"] != nil ? path : nil
    }

    private func matches(
        of option: String, _ pattern: NamePattern?, in tree: RawTree
    ) throws(BundleError) -> Set<[UInt8]> {
        guard let pattern else { return [] }
        let found = Set(try pattern.find(in: tree))
        guard found.isEmpty else { return found }
        throw BundleError(
            .rawLayout, "\(pattern.hasStar ? "no file matches" : "has no file") \(option) \(pattern)",
            file: tree.root, cause: .noMatch)
    }

    /// The depth map of each photo by the times in their names; nil if the names must be the same.
    private func nearest(_ photos: Set<[UInt8]>, _ depths: Set<[UInt8]>) -> [[UInt8]: NearestNames.Match]? {
        guard let limit = options.matchWithin, let form = options.timeFromName, patterns.photo.hasStar,
            patterns.depth != nil
        else { return nil }
        return NearestNames.match(Array(photos), Array(depths), by: form, zone: options.timeZone, within: limit)
    }

    /// The depth map of each photo whose name looks the same and has other bytes: letters with accents have two Unicode
    /// forms.
    private func lookalikes(_ photos: Set<[UInt8]>, _ depths: Set<[UInt8]>) -> [[UInt8]: [UInt8]] {
        // Here, and only here, texts are the same if Unicode says so.
        func form(_ name: [UInt8]) -> AnyHashable? { String(validating: name, as: UTF8.self).map(AnyHashable.init) }
        let alone = photos.subtracting(depths).filter { name in name.contains { $0 >= 0x80 } }
        if alone.isEmpty { return [:] }
        let known = depths.subtracting(photos).reduce(into: [AnyHashable: [UInt8]]()) { known, name in
            if let composed = form(name) { known[composed] = name }
        }
        return alone.reduce(into: [:]) { found, name in found[name] = form(name).flatMap { known[$0] } }
    }

    private func otherForm(
        _ depth: [UInt8], than photo: [UInt8], _ file: FilePath
    ) -> BundleError {
        // The decomposed form is longer.
        let (own, others) = depth.count > photo.count ? ("NFD", "NFC") : ("NFC", "NFD")
        return BundleError(
            .rawCapture, "has the name of its photo in another Unicode form: \(own), the photo has \(others)",
            file: file, cause: .otherUnicode)
    }

    private func noPair(_ tree: RawTree) -> BundleError {
        let found = options.matchWithin.map { "no depth map is within \($0) of a photo, by the times in their names" }
        return BundleError(
            .rawLayout, found ?? "no photo and depth map have the same name where their patterns have *",
            file: tree.root, cause: .noPair)
    }
}
