import CaptureBundle
import CaptureDevice
import CaptureNative
import PictureClient
import PictureMessages
import SystemPackage

struct FramePhoto {
    let capture: RawCapture.Photo
    /// The photo as it was found, of which `capture` may have only a part.
    let bytes: [UInt8]
    /// The facts in EXIF; nil if the photo has none.
    let facts: PhotoFacts?
    /// The HEIC picture from which the photo was made.
    var original: HEIFPicture?
    /// The media type of the file that was converted; nil for a photo that is packed as it was found.
    var convertedFrom: String?
    /// Whether something was taken out of the photo.
    var isRewritten = false

    var structure: JPEGStructure { capture.structure }
}

extension FrameReader {
    mutating func readPhoto() throws(BundleError) -> FramePhoto {
        guard let path = frame.photo else {
            throw export.search?.missingPhoto() ?? BundleError(.rawCapture, "has no photo", file: tree.root)
        }
        guard tree.has(path) else { throw wrong(path, "missing; it is the photo of this frame") }
        if let large = try readLargePhoto(path) { return large }
        let file = label(path)
        var bytes = try tree.read(path, limit: FileLimits.photo)
        try checkHash(bytes, path)
        var original: HEIFPicture?
        var convertedFrom: String?
        if let kind = FileKind(bytes), kind.family == .heif || kind.format == .png {
            guard options.convertsPhoto else { throw notConverted(kind, path) }
            (bytes, original) = try kind.format == .png ? (convertPNG(bytes, path), nil) : convert(bytes, path)
            convertedFrom = kind.format == .png ? "image/png" : "image/heic"
        }
        // EXIF contains the time and the position, so it is read before the photo is rewritten.
        let found = try PhotoRemarks.read(file) { () throws(JPEGStructure.Failure) in try JPEGStructure(bytes) }
        let packed = options.rewritesPhoto ? try rewritten(bytes, file) : bytes
        let structure =
            packed == bytes
            ? found : try PhotoRemarks.read(file) { () throws(JPEGStructure.Failure) in try JPEGStructure(packed) }
        let photo = RawCapture.Photo(
            file: file, content: .bytes(packed), size: packed.count, sha256: try Digest.of(packed),
            structure: structure)
        PhotoRemarks.acceptance(of: photo, &remarks)
        return FramePhoto(
            capture: photo, bytes: bytes, facts: found.exif, original: original,
            convertedFrom: convertedFrom, isRewritten: packed != bytes)
    }

    /// A photo that is packed as it is and too large for memory is read in pieces; nil for others.
    private mutating func readLargePhoto(_ path: FilePath) throws(BundleError) -> FramePhoto? {
        guard !options.convertsPhoto, !options.rewritesPhoto, frame.photoHash == nil, !frame.hasDepthInside,
            let handle = try tree.handle(path)
        else { return nil }
        let file = label(path)
        let size = try native({ .reading(file, $0) }) { try handle.status().size }
        guard size > PayloadContent.memoryLimit else { return nil }
        guard size <= BundleLimits.entryBytes else {
            throw wrong(path, "has \(size) bytes, at most \(BundleLimits.entryBytes) fit a bundle")
        }
        var walk = JPEGWalk(size: size)
        let sha256 = try PayloadContent.hash(handle, name: file.string, expecting: size) { piece in
            try PhotoRemarks.read(file) { () throws(JPEGStructure.Failure) in try walk.consume(piece) }
        }
        let structure = try PhotoRemarks.read(file) { () throws(JPEGStructure.Failure) in try walk.finish() }
        let photo = RawCapture.Photo(
            file: file, content: .file(handle, name: file.string), size: size, sha256: sha256, structure: structure)
        PhotoRemarks.acceptance(of: photo, &remarks)
        return FramePhoto(capture: photo, bytes: [], facts: structure.exif)
    }

    private func notConverted(_ kind: FileKind, _ path: FilePath) -> BundleError {
        // In a folder of our own, the name of photo.jpg may be wrong too.
        let isMisnamed = export.search != nil && path == CapbundleLayout.photo
        return BundleError(
            .rawCapture, "is \(kind.words), expected a JPEG", file: label(path),
            cause: isMisnamed ? .otherPhoto : .notConverted, values: isMisnamed ? [kind.photoForm] : [])
    }

    /// Makes a JPEG of a PNG photo, with the EXIF of the original, which is carried if it may be.
    ///
    /// - Throws: The failures of the decoder.
    private mutating func convertPNG(_ bytes: [UInt8], _ path: FilePath) throws(BundleError) -> [UInt8] {
        let jpeg: [UInt8]
        do {
            jpeg = try decoder.jpeg(decoder.pixels(bytes, .png), quality: HEIFPicture.quality)
        } catch { throw error.error(label(path)) }
        try carryOriginal(.pngSource, mediaType: "image/png", bytes: bytes, file: label(path))
        return JPEGExif.insert(PNGChunks(bytes)?.exif, into: jpeg)
    }

    /// The photo with only what Spec/raw-captures.md section 7 lists.
    private func rewritten(_ bytes: [UInt8], _ file: FilePath) throws(BundleError) -> [UInt8] {
        do throws(PhotoFields.Failure) { return try PhotoFields(bytes).photo } catch {
            throw BundleError(
                .rawPosition, "cannot be rewritten: it is broken, or does not say how many lines it has", file: file,
                cause: .brokenPhoto)
        }
    }

    /// Compares the photo with the hash of the layout, in hex or base64.
    private func checkHash(_ bytes: [UInt8], _ path: FilePath) throws(BundleError) {
        guard let text = frame.photoHash else { return }
        let digest = try Digest.of(bytes)
        guard let said = Digest(hex: text.lowercased())?.bytes ?? Base64.decode(text), said.count == 32 else {
            throw BundleError(
                .rawCapture, "photo_hash is not a SHA-256 in hex or base64", file: metadataFile)
        }
        guard said == digest.bytes else {
            throw BundleError(
                .rawCapture, "its SHA-256 is \(digest), but photo_hash in metadata.json says \(Hex.encode(said))",
                file: label(path), cause: .otherHash)
        }
    }
}
