import SystemPackage

/// Refuses a photo that contains a position which the bundle must not contain.
enum PositionRefusal {
    static let keeping = "to pack it anyway: --keep-photo-location"

    static let kept = "holds a position in its EXIF or XMP, which is kept: the photo is packed unchanged"

    /// Whether a photo must not tell a position.
    static func applies(_ options: RawCaptureOptions) -> Bool {
        options.location != .exact && !options.keepsPhotoLocation
    }

    /// - Parameter words: What in the photo tells a position; nil if nothing does.
    /// - Throws: `raw.position` if the bundle must not tell it.
    static func check(_ words: String?, _ file: FilePath, _ options: RawCaptureOptions) throws(BundleError) {
        guard let words, applies(options) else { return }
        throw BundleError(
            .rawPosition,
            "holds a position (\(words)), which --location \(options.location.rawValue) must not keep",
            file: file, hints: ["to take it out without encoding the photo again: --rewrite-photo", keeping])
    }
}
