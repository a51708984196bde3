import SystemPackage

/// Positions that files tell, where the bundle must not tell one (Spec/raw-captures.md section 7).
extension FrameReader {
    /// The photo without its position, if the user asked for that; nil for a photo that stays as it is.
    ///
    /// - Throws: `raw.position` if the bundle must not tell the position, and the user did not allow it.
    func rewritten(_ bytes: [UInt8], _ structure: JPEGStructure, _ path: FilePath) throws(BundleError) -> [UInt8]? {
        guard structure.holdsPosition else { return nil }
        try PositionRefusal.check(structure, label(path), options)
        return nil
    }

    /// Refuses a file that is carried and tells a position.
    func refusePosition(in bytes: [UInt8], _ path: FilePath) throws(BundleError) {
        guard options.location != .exact, !options.keepsPhotoLocation else { return }
        guard let root = try? JSONParser.parse(bytes, nesting: BundleLimits.metadataNesting),
            let what = CaptureMetadata.namesThatLookLikeAPosition(in: root).first
        else { return }
        throw BundleError(
            .rawPosition, "tells a position (\(what)), which --location \(options.location.rawValue) must not keep",
            file: label(path), hints: ["leave it out: pack without --keep-source", PositionRefusal.keeping])
    }
}
