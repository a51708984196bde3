import CaptureBundle
public import CaptureDevice
import CaptureNative
import SystemPackage

/// What a capture may contain if its bundle must not tell the position (Spec/raw-captures.md section 7).
extension RawCapture {
    /// Adds the remarks about positions.
    ///
    /// - Throws: `raw.position` for each entry that is not as listed, if the bundle must not tell the position.
    mutating func checkPosition(_ options: RawCaptureOptions, in raw: FilePath) throws(BundleError) {
        guard !options.hidesPosition else { return try refuseUnlisted(options, in: raw) }
        for name in CaptureMetadata.namesThatLookLikeAPosition(in: try CaptureMetadata.root(metadata)) {
            let words = "the member \(name) looks like a position and is kept"
            remarks.add(.warning, "metadata.position", file: metadataFile, message: words)
        }
        if photo.structure.exif?.position != nil && (options.location != .exact || position == nil) {
            remarks.add(
                .warning, "photo.position", file: photo.file, message: "has a position in its EXIF, which is kept")
        }
        if position != nil, !options.keepsPhotoLocation, !options.withholdable.contains(.photo),
            case .bytes(let bytes) = photo.content, let words = Unlisted.photo(bytes)
        {
            let ways = "pack it with --rewrite-photo or --withholdable photo.jpg"
            remarks.add(
                .note, Remark.photoFields, file: photo.file,
                message:
                    "\(words), so \"redact\" will not withhold the position of this capture; to allow that, \(ways)")
        }
    }

    private func refuseUnlisted(_ options: RawCaptureOptions, in raw: FilePath) throws(BundleError) {
        var faults: [BundleError] = []
        func refuse(_ words: String?, in file: FilePath, cause: BundleError.Cause) {
            guard let words else { return }
            let message = "\(words), which --location \(options.location.rawValue) does not allow"
            faults.append(BundleError(.rawPosition, message, file: file, cause: cause))
        }
        refuse(Unlisted.photo(try photo.bytes()), in: photo.file, cause: .positionInPhoto)
        refuse(Unlisted.words(.metadata, metadata), in: metadataFile, cause: .positionInMetadata)
        let sources = carried.map(\.entry.path).filter { $0.role == .source }.map(\.description)
        refuse(
            sources.isEmpty ? nil : "gives the files \(sources.joined(separator: ", "))", in: raw,
            cause: .positionInSources)
        guard faults.isEmpty else { throw faults.joined }
    }
}

extension RawCapture.Photo {
    /// All bytes of a photo that is not too large to be judged; none of a larger one, which is not a photo then.
    fileprivate func bytes() throws(BundleError) -> [UInt8] {
        if case .bytes(let bytes) = content { return bytes }
        var bytes: [UInt8] = []
        guard size <= Unlisted.sizeLimit else { return bytes }
        bytes.reserveCapacity(size)
        try content.stream(size: size, sha256: sha256) { piece in bytes.append(copying: piece) }
        return bytes
    }
}

extension RawCaptureOptions {
    /// Whether the bundle must not tell the position.
    var hidesPosition: Bool { location != .exact && !keepsPhotoLocation }
}

extension Remark {
    /// The codes of notes about photos and about depth maps of which one in a run is enough.
    public static let photoFields = "photo.fields"
    public static let depthUnit = "raw.unit"
}
