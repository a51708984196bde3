import SystemPackage

/// Removes or refuses positions in files when the bundle must not contain one (Spec/raw-captures.md section 7).
extension FrameReader {
    /// The photo without its position, if the user asked for that; nil for a photo that stays unchanged.
    ///
    /// - Throws: `raw.position` if the photo contains a position, and neither `--location` nor another option allows it.
    func rewritten(_ bytes: [UInt8], _ path: FilePath) throws(BundleError) -> [UInt8]? {
        guard options.rewritesPhoto || PositionRefusal.applies(options) else { return nil }
        guard let words = PlacesTold.tellsAPosition(bytes, kind: .jpeg) else { return nil }
        if options.rewritesPhoto {
            do { return try PositionRemoval.apply(to: bytes) } catch { throw error.about(file: label(path).string) }
        }
        try PositionRefusal.check(words, label(path), options)
        return nil
    }

    /// Refuses a carried file that contains a position.
    func refusePosition(in bytes: [UInt8], _ path: FilePath) throws(BundleError) {
        guard options.location != .exact, !options.keepsPhotoLocation else { return }
        guard let kind = PlacesTold.Kind(path), let what = PlacesTold.tellsAPosition(bytes, kind: kind) else { return }
        throw BundleError(
            .rawPosition, "contains a position (\(what)), which --location \(options.location.rawValue) does not allow",
            file: label(path), hints: ["leave it out: pack without --keep-source", PositionRefusal.keeping])
    }
}

extension PlacesTold.Kind {
    /// The kind of a carried file, by its ending; nil for files that contain only samples.
    init?(_ file: FilePath) {
        switch file.ending {
        case "jpg", "jpeg": self = .jpeg
        case "tif", "tiff": self = .tiff
        case "png": self = .png
        case "f32", "bin", "raw", "gz", "zlib", "deflate", "npy", "pfm": return nil
        default: self = .json
        }
    }
}
