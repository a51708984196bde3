import SystemPackage

/// What `--location coarse` and `omit` say where the photo tells the place.
enum PositionRefusal {
    static let keeping = "to pack it anyway: --keep-photo-location"

    static let kept = "holds a position in its EXIF or XMP, which is kept: the photo is packed unchanged"

    /// - Throws: `raw.position` if the photo tells a position that the bundle must not tell.
    static func check(
        _ photo: JPEGStructure, _ file: FilePath, _ options: RawCaptureOptions
    ) throws(BundleError) {
        guard photo.holdsPosition, options.location != .exact, !options.keepsPhotoLocation else { return }
        throw BundleError(
            .rawPosition,
            "holds a position in its EXIF or XMP, which --location \(options.location.rawValue) must not keep",
            file: file, hints: ["to take it out without encoding the photo again: --rewrite-photo", keeping])
    }
}
