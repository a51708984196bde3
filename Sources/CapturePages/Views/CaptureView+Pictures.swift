package import CaptureBundle
package import PictureClient
import PictureMessages
import SystemPackage

extension CaptureView {
    /// The depth map in false colours with its scale, alone or next to the photo, both upright.
    ///
    /// - Throws: `raw.capture` if the photo cannot be decoded; `input.unreadable` if the decoder is missing.
    package func picture(
        _ colours: ColourTable, beside: Bool, _ decoder: PictureDecoder
    ) throws(BundleError) -> PixelImage {
        let depth = try depthPicture(colours)
        do throws(PictureTooLarge) {
            guard beside else { return try PictureComposition.alone(depth) }
        } catch {
            throw tooLarge
        }
        let photo = try photoPicture(decoder, height: PictureComposition.heightBeside(depth))
        do { return try PictureComposition.beside(depth, photo: photo) } catch { throw tooLarge }
    }

    /// The depth map in false colours, turned as EXIF turns the photo.
    package func depthPicture(_ colours: ColourTable) throws(BundleError) -> DepthPicture {
        guard let picture = DepthPicture(depth, colours) else { throw tooLarge }
        return picture.upright(depthOrientation)
    }

    /// The upright photo. It is reduced if that suffices for `height`.
    ///
    /// - Parameter height: The minimum height of the result in pixels; a photo that is lower keeps its height.
    package func photoPicture(_ decoder: PictureDecoder, height: Int) throws(BundleError) -> PixelImage {
        guard let photo else {
            let reason = isPhotoWithheld ? "was withheld from this bundle" : "is not in this capture"
            throw BundleError(.entryAbsent, reason, file: name, entry: EntryPath.photo.description)
        }
        let facts = PhotoFacts(jpeg: photo)
        let orientation = facts?.orientation ?? 1
        let stored = facts?.size.map { (5...8).contains(orientation) ? $0.width : $0.height }
        let eighths = [1, 2, 4].first { eighths in stored.map { $0 * eighths / 8 >= height } ?? false }
        do {
            return try decoder.pixels(photo, .jpeg, eighths: eighths ?? 8).upright(orientation)
        } catch {
            let error = error.error(FilePath(name))
            throw BundleError(
                error.code, error.message, file: name, entry: EntryPath.photo.description, cause: error.cause,
                values: error.values)
        }
    }

    private var depthOrientation: Int {
        photo.flatMap { PhotoFacts(jpeg: $0) }?.orientation(ofDepth: depth.size) ?? 1
    }

    private var tooLarge: BundleError {
        BundleError(
            .outputUnusable, "the picture would have more than \(PixelImage.sideLimit) pixels on one side", file: name)
    }
}
