package import CaptureBundle
import Synchronization

/// Makes the small pictures of cards: the photo, and the depth map in false colours, both upright. Several threads may
/// use it at the same time.
package final class ReportPictures: Sendable {
    private let decoder = PictureDecoder()
    private let lack = Mutex<PictureFailure?>(nil)

    /// The maximum number of bytes of a photo, if a quality gives it. With it, a page with a thousand captures has at
    /// most 30 MB.
    private static let photoBytes = 14_000
    private static let depthBytes = 5000
    /// The JPEG qualities that are tried until a picture is small enough.
    private static let qualities = [70, 50, 32, 18]
    /// The minimum and maximum number of pixels on the longer side of a photo. A smaller photo keeps its size.
    private static let photoSides = (least: 300, most: 640)
    private static let depthSide = 256

    package init() {}

    /// The failure if a program or library for making pictures is not installed; nil otherwise.
    package var failure: PictureFailure? { lack.withLock(\.self) }

    /// Makes the pictures of a bundle.
    ///
    /// - Returns: The pictures, and the reason why a picture of a sound bundle is missing; nil if none is missing.
    package func pictures(of view: BundleView) -> (pictures: [ReportPicture], reason: String?) {
        guard view.isSound, failure == nil else { return ([], failure?.message) }
        var pictures: [ReportPicture] = []
        var reason: String?
        let facts = view.photo.flatMap { PhotoFacts(jpeg: $0) }
        if let photo = view.photo {
            do throws(PictureFailure) {
                pictures.append(try self.photo(photo, facts))
            } catch {
                reason = "the photo \(told(error))"
            }
        } else if view.hasLargePhoto {
            reason = "the photo has more than \(BundleView.photoLimit >> 20) MiB"
        }
        if let depth = view.depth, let picture = DepthPicture(depth, .cividis) {
            do throws(PictureFailure) {
                pictures.append(try self.depth(picture.upright(facts?.orientation(ofDepth: depth.size) ?? 1)))
            } catch {
                reason = reason ?? "the depth map \(told(error))"
            }
        }
        return (pictures, reason)
    }

    /// Returns the message of a failure. If something is not installed, this is remembered, so that it is reported once
    /// and no further pictures are tried.
    private func told(_ error: PictureFailure) -> String {
        if error.kind.isInstallation { lack.withLock { $0 = $0 ?? error } }
        return error.message
    }

    private func photo(_ jpeg: [UInt8], _ facts: PhotoFacts?) throws(PictureFailure) -> ReportPicture {
        let words = "Photo of this capture"
        let longer = facts?.size.map { max($0.width, $0.height) } ?? 0
        let eighths = [1, 2, 4].first { longer * $0 / 8 >= Self.photoSides.least } ?? 8
        let orientation = facts?.orientation ?? 1
        let image: PixelImage
        if eighths == 1, longer / 8 <= Self.photoSides.most {
            let bytes = try decoder.thumbnail(jpeg, orientation: orientation, quality: Self.qualities[1])
            // Decoding a large photo takes far longer than anything else here, so it is decoded only once.
            image = try decoder.pixels(bytes, .jpeg)
            if bytes.count <= Self.photoBytes {
                return ReportPicture(
                    bytes: bytes, isPNG: false, width: image.width, height: image.height, words: words, caption: "Photo"
                )
            }
        } else {
            image = try decoder.pixels(jpeg, .jpeg, eighths: eighths).upright(orientation)
        }
        return try encoded(Self.fitting(image, Self.photoSides.most), Self.photoBytes, words: words, caption: "Photo")
    }

    private func depth(_ picture: DepthPicture) throws(PictureFailure) -> ReportPicture {
        let ends = picture.span.map { span in
            [span.nearest, span.farthest].map { Quantity.decimal(Double($0), places: 2) }
        }
        let caption = ends.map { "Depth \($0[0]) to \($0[1]) m, near is bright" } ?? "Depth, no measured sample"
        return try encoded(
            Self.fitting(picture.image, Self.depthSide), Self.depthBytes,
            words: "Depth map in false colours: near is bright, far is dark, grey is not measured",
            caption: "\(caption)")
    }

    private static func fitting(_ image: PixelImage, _ side: Int) -> PixelImage {
        let longer = max(image.width, image.height)
        guard longer > side else { return image }
        return image.resized(
            width: max(1, image.width * side / longer), height: max(1, image.height * side / longer)) ?? image
    }

    private func encoded(
        _ image: PixelImage, _ limit: Int, words: String, caption: HTML
    ) throws(PictureFailure) -> ReportPicture {
        var bytes: [UInt8] = []
        var index = 0
        let last = Self.qualities.count - 1
        while true {
            bytes = try decoder.jpeg(image, quality: Self.qualities[index])
            if bytes.count <= limit || index == last { break }
            // A picture that is far too large skips a quality.
            index = min(last, index + (bytes.count > 2 * limit ? 2 : 1))
        }
        return ReportPicture(
            bytes: bytes, isPNG: false, width: image.width, height: image.height, words: words, caption: caption)
    }
}
