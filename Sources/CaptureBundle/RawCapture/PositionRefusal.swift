import SystemPackage

/// Refuses a photo that contains a position which the bundle must not contain.
enum PositionRefusal {
    static let keeping = "to pack it anyway: --keep-photo-location"

    static let kept = "holds a position in its EXIF or XMP, which is kept: the photo is packed unchanged"

    /// Checks the photo against `--location`.
    ///
    /// - Throws: `raw.position` if the photo contains a position and `--location` is `coarse` or `omit`.
    static func check(
        _ photo: JPEGStructure, _ file: FilePath, _ options: RawCaptureOptions
    ) throws(BundleError) {
        guard photo.holdsPosition, options.location != .exact, !options.keepsPhotoLocation else { return }
        throw BundleError(
            .rawPosition,
            "holds a position in its EXIF or XMP, which --location \(options.location.rawValue) does not allow",
            file: file, hints: ["to take it out without encoding the photo again: --rewrite-photo", keeping])
    }
}
