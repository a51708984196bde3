import SystemPackage

/// Removes or refuses positions in files when the bundle must not contain one (Spec/raw-captures.md section 7).
extension FrameReader {
    /// The photo without its position and maker notes, if the user asked for that; nil for a photo that stays unchanged.
    ///
    /// - Throws: `raw.position` if the photo contains a position, and neither `--location` nor another option allows it.
    func rewritten(_ bytes: [UInt8], _ path: FilePath) throws(BundleError) -> [UInt8]? {
        guard options.rewritesPhoto || PositionRefusal.applies(options) else { return nil }
        let words = PlacesTold.tellsAPosition(bytes, kind: .jpeg)
        guard options.rewritesPhoto else {
            try PositionRefusal.check(words, label(path), options)
            return nil
        }
        do {
            let changed =
                try words == nil
                ? PositionRemoval.withoutMakerNotes(bytes) : PositionRemoval.apply(to: bytes)
            return changed == bytes ? nil : changed
        } catch { throw error.about(file: label(path).string) }
    }

    /// Refuses a carried file that contains a position.
    func refusePosition(in bytes: [UInt8], _ path: FilePath) throws(BundleError) {
        guard options.location != .exact, !options.keepsPhotoLocation else { return }
        guard let what = PlacesTold.tellsAPosition(bytes, kind: PlacesTold.Kind(path, bytes)) else { return }
        throw BundleError(
            .rawPosition, "contains a position (\(what)), which --location \(options.location.rawValue) does not allow",
            file: label(path), hints: ["leave it out: pack without --keep-source", PositionRefusal.keeping])
    }
}

extension PlacesTold.Kind {
    /// The kind of a carried file. Its first bytes decide; if they are of no known form, the ending of its name does.
    init(_ file: FilePath, _ bytes: [UInt8]) {
        self = Self.beginning(bytes) ?? Self.ending(file)
    }

    private static func beginning(_ bytes: [UInt8]) -> Self? {
        if bytes.starts(with: PlacesTold.pngSignature) { return .png }
        return switch FileKind(bytes)?.family {
        case .jpeg?: .jpeg
        case .depthPicture? where TIFFStructure(bytes) != nil: .tiff
        case .compressed? where bytes.starts(with: [0x1f, 0x8b]): .deflated
        case .picture?, .compressed?, .zip?, .document?: .closed
        default: nil
        }
    }

    private static func ending(_ file: FilePath) -> Self {
        switch file.ending {
        case "jpg", "jpeg": .jpeg
        case "tif", "tiff": .tiff
        case "png": .png
        case "webp", "gif", "avif", "jxl", "jp2": .closed
        case "f32", "bin", "raw", "npy", "pfm": .samples
        case "gz", "zlib", "deflate": .deflated
        default: .json
        }
    }
}
