import CaptureBundle
public import PictureClient
import PictureMessages
import Synchronization

/// A picture of a bundle's contents for a page: a JPEG file without metadata, upright.
public struct BundlePicture: Hashable, Sendable {
    /// The bytes of the JPEG file.
    public let bytes: [UInt8]
    /// The size of the picture in pixels.
    public let width: Int
    public let height: Int
}

/// Makes the pictures that a page shows of a bundle: the photo, and the depth map in false colours. Both are upright.
///
/// They are decoded in `capbundle-decode` and encoded again, so nothing of the photo's metadata is in them: no position,
/// no name, no preview. Several threads may use one object at the same time. Each call blocks its thread until the
/// decoder has answered, at most a few minutes.
public final class BundlePictures: Sendable {
    /// The size of the pictures.
    public struct Size: Sendable {
        /// The size of a photo in bytes at which the qualities aim. Even the lowest one can give a larger photo.
        fileprivate let photoBytes: Int
        fileprivate let depthBytes: Int
        /// The JPEG qualities that are tried until a picture is small enough.
        fileprivate let qualities: [Int]
        /// The quality of a photo that is reduced to an eighth while it is decoded.
        fileprivate let thumbnailQuality: Int
        /// The minimum and maximum number of pixels on the longer side of a photo. A smaller photo keeps its size.
        fileprivate let photoSides: (least: Int, most: Int)
        fileprivate let depthSide: Int

        /// For a page with many captures: a photo has about 14 kB and at most 640 pixels on a side, a depth map 5 kB and
        /// 256 pixels. A page with a thousand captures has at most 30 MB.
        public static let small = Size(
            photoBytes: 14_000, depthBytes: 5000, qualities: [70, 50, 32, 18], thumbnailQuality: 50,
            photoSides: (least: 300, most: 640), depthSide: 256)
        /// For a page about one capture: a photo has about 250 kB and at most 1280 pixels on a side, a depth map 60 kB and
        /// 640 pixels.
        public static let large = Size(
            photoBytes: 250_000, depthBytes: 60_000, qualities: [85, 75, 60, 40], thumbnailQuality: 85,
            photoSides: (least: 960, most: 1280), depthSide: 640)
    }

    /// The pictures of one bundle.
    public struct Made: Sendable {
        /// nil if the bundle is not sound, has no photo, or its photo cannot be decoded.
        public internal(set) var photo: BundlePicture?
        /// nil if the bundle is not sound, has no depth map, or the picture cannot be made.
        public internal(set) var depth: BundlePicture?
        /// The depths of the brightest and the darkest colour in metres; nil without such a picture, or without a
        /// measured sample. They are the 2nd and the 98th percentile of the measured samples.
        public internal(set) var depthSpan: ClosedRange<Float>?
        /// Why a picture of a sound bundle is missing, as the end of a sentence; nil if none is missing.
        public internal(set) var reason: String?
    }

    private let decoder: PictureDecoder
    private let size: Size
    private let lack = Mutex<PictureFailure?>(nil)

    /// - Parameters:
    ///   - size: The size of all pictures that this object makes.
    ///   - decoder: Decodes and encodes them.
    public init(_ size: Size = .small, decoder: PictureDecoder = PictureDecoder()) {
        (self.size, self.decoder) = (size, decoder)
    }

    /// The failure if a program or library for making pictures is not installed; nil otherwise.
    package var failure: PictureFailure? { lack.withLock(\.self) }

    /// Makes the pictures of a bundle. It makes none of a bundle that is not sound.
    public func pictures(of view: BundleView) -> Made {
        var made = Made()
        guard view.isSound else { return made }
        guard failure == nil else {
            made.reason = failure?.message
            return made
        }
        let facts = view.photo.flatMap { PhotoFacts(jpeg: $0) }
        if let photo = view.photo {
            do throws(PictureFailure) {
                made.photo = try self.photo(photo, facts)
            } catch {
                made.reason = "the photo \(recorded(error))"
            }
        } else if view.hasLargePhoto {
            made.reason = "the photo has more than \(BundleView.photoLimit >> 20) MiB"
        }
        let depth = view.depth.flatMap {
            DepthPicture($0, .cividis, orientation: facts?.orientation(ofDepth: $0.size) ?? 1)
        }
        if let depth {
            do throws(PictureFailure) {
                made.depth = try encoded(Self.fitting(depth.image, size.depthSide), size.depthBytes)
                made.depthSpan = depth.span
            } catch {
                made.reason = made.reason ?? "the depth map \(recorded(error))"
            }
        }
        return made
    }

    /// Returns the message of a failure. If something is not installed, this is remembered, so that it is reported once
    /// and no further pictures are tried.
    private func recorded(_ error: PictureFailure) -> String {
        if error.kind.isInstallation { lack.withLock { $0 = $0 ?? error } }
        return error.message
    }

    private func photo(_ jpeg: [UInt8], _ facts: PhotoFacts?) throws(PictureFailure) -> BundlePicture {
        let longer = facts?.size.map { max($0.width, $0.height) } ?? 0
        let eighths = [1, 2, 4].first { longer * $0 / 8 >= size.photoSides.least } ?? 8
        let orientation = facts?.orientation ?? 1
        let image: PixelImage
        if eighths == 1, longer / 8 <= size.photoSides.most {
            let bytes = try decoder.thumbnail(jpeg, orientation: orientation, quality: size.thumbnailQuality)
            if bytes.count <= size.photoBytes, let sides = PhotoFacts(jpeg: bytes)?.size {
                return BundlePicture(bytes: bytes, width: sides.width, height: sides.height)
            }
            // Decoding a large photo takes far longer than anything else here, so it is decoded only once.
            image = try decoder.pixels(bytes, .jpeg)
        } else {
            image = try decoder.pixels(jpeg, .jpeg, eighths: eighths).upright(orientation)
        }
        return try encoded(Self.fitting(image, size.photoSides.most), size.photoBytes)
    }

    private static func fitting(_ image: PixelImage, _ side: Int) -> PixelImage {
        let longer = max(image.width, image.height)
        guard longer > side else { return image }
        return image.resized(
            width: max(1, image.width * side / longer), height: max(1, image.height * side / longer)) ?? image
    }

    private func encoded(_ image: PixelImage, _ limit: Int) throws(PictureFailure) -> BundlePicture {
        var index = 0
        let last = size.qualities.count - 1
        while true {
            let bytes = try decoder.jpeg(image, quality: size.qualities[index])
            if bytes.count <= limit || index == last {
                return BundlePicture(bytes: bytes, width: image.width, height: image.height)
            }
            // A picture that is far too large skips a quality.
            index = min(last, index + (bytes.count > 2 * limit ? 2 : 1))
        }
    }
}
