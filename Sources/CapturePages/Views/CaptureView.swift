package import CaptureBundle
import CaptureNative
package import PictureClient
package import PictureMessages
package import SystemPackage

/// The photo and the depth map of one capture, for showing them as pictures.
package struct CaptureView: Sendable {
    /// The name of the bundle or the raw capture in messages.
    package let name: String
    /// The bytes of the photo; nil unless the caller asked for it.
    package let photo: [UInt8]?
    package let depth: DepthSamples
    let isPhotoWithheld: Bool

    /// The maximum number of bytes of a photo. A decoded photo has to be in memory as a whole.
    package static let photoLimit = 1 << 28

    package init(name: String, photo: [UInt8]?, depth: DepthSamples, isPhotoWithheld: Bool = false) {
        (self.name, self.photo, self.depth, self.isPhotoWithheld) = (name, photo, depth, isPhotoWithheld)
    }

    /// Reads a bundle once, for what `UntrustedView` shows and for pictures.
    ///
    /// - Returns: The view of the bundle, and that of its pictures, which is a failure if the bundle is not sound or has no
    ///   depth map.
    /// - Throws: The errors of `UntrustedView`.
    package static func withBundle(
        _ source: BundleSource
    ) throws(BundleError) -> (bundle: UntrustedView, pictures: Result<CaptureView, BundleError>) {
        let collector = ContentCollector(photoLimit: photoLimit)
        let bundle = try UntrustedView(source, collector)
        let pictures = Result { () throws(BundleError) in
            try CaptureView(name: source.name, report: bundle.report, collector: collector)
        }
        return (bundle, pictures)
    }

    /// Reads a bundle. Every byte of it is verified. Trust is not checked.
    ///
    /// - Throws: The worst fault of a damaged bundle; `entry.absent` for a capture without a depth map;
    ///   `input.unreadable`, `io.failed`.
    package static func read(_ source: BundleSource, withPhoto: Bool) throws(BundleError) -> CaptureView {
        let collector = ContentCollector(photoLimit: withPhoto ? photoLimit : 0)
        let report = try Verifier.soundness.verify(BundleReader(source), observer: collector)
        return try CaptureView(name: source.name, report: report, collector: collector)
    }

    private init(name: String, report: VerificationReport, collector: ContentCollector) throws(BundleError) {
        try report.requireSound(name)
        guard report.manifest?.depth != nil, !report.withheld.contains(.depth) else {
            throw Self.absent(.depth, in: name, isWithheld: report.withheld.contains(.depth))
        }
        guard let depth = collector.depth else { throw Self.incomplete(name) }
        if let size = collector.photoSize, size > Self.photoLimit { throw Self.tooLarge(name, size) }
        self.init(
            name: name, photo: collector.photo, depth: depth, isPhotoWithheld: report.withheld.contains(.photo))
    }

    package static func absent(_ path: EntryPath, in name: String, isWithheld: Bool = false) -> BundleError {
        let reason = isWithheld ? "was withheld from this bundle" : "is not in this capture"
        return BundleError(.entryAbsent, reason, file: name, entry: path.description)
    }

    package static func tooLarge(_ name: String, _ size: Int) -> BundleError {
        BundleError(
            .entryAbsent, "has \(size) bytes; pictures can be made of photos with at most \(photoLimit) bytes",
            file: name, entry: EntryPath.photo.description)
    }

    package static func incomplete(_ name: String) -> BundleError {
        BundleError(.internalFailure, "samples of the depth map are missing", file: name)
    }
}

extension CaptureView {
    /// The depth map in false colours with its scale, alone or next to the photo, both upright.
    ///
    /// - Throws: `raw.capture` if the photo cannot be decoded; `input.unreadable` if the decoder is missing.
    package func png(
        _ colours: ColourTable, beside: Bool, _ decoder: PictureDecoder, for output: FilePath
    ) throws(BundleError) -> [UInt8] {
        let depth = try depthPicture(colours)
        let photo = try beside ? photoPicture(decoder, height: PictureComposition.heightBeside(depth)) : nil
        guard let picture = PictureComposition.picture(of: depth, photo: photo) else { throw tooLarge }
        do { return try decoder.png(picture) } catch { throw error.error(output) }
    }

    /// The depth map in false colours, turned as EXIF turns the photo.
    package func depthPicture(_ colours: ColourTable) throws(BundleError) -> DepthPicture {
        let orientation = photo.flatMap { PhotoFacts(jpeg: $0) }?.orientation(ofDepth: depth.size) ?? 1
        guard let picture = DepthPicture(depth, colours, orientation: orientation) else { throw tooLarge }
        return picture
    }

    /// The upright photo. It is reduced if that suffices for `height`.
    ///
    /// - Parameter height: The minimum height of the result in pixels; a photo that is lower keeps its height.
    package func photoPicture(_ decoder: PictureDecoder, height: Int) throws(BundleError) -> PixelImage {
        guard let photo else { throw Self.absent(.photo, in: name, isWithheld: isPhotoWithheld) }
        let facts = PhotoFacts(jpeg: photo)
        let orientation = facts?.orientation ?? 1
        let stored = facts?.size.map { (5...8).contains(orientation) ? $0.width : $0.height }
        let eighths = [1, 2, 4].first { eighths in stored.map { $0 * eighths / 8 >= height } ?? false }
        do {
            return try decoder.pixels(photo, .jpeg, eighths: eighths ?? 8).upright(orientation)
        } catch {
            throw error.error(FilePath(name), entry: .photo)
        }
    }

    private var tooLarge: BundleError {
        BundleError(
            .outputUnusable, "the picture would have more than \(PixelImage.sideLimit) pixels on one side", file: name)
    }
}

/// Keeps the photo, the position and the depth map of a bundle while it is verified.
final class ContentCollector: BundleObserver {
    /// The bytes of the photo; nil if the bundle has none, or if it is larger than the limit.
    private(set) var photo: [UInt8]?
    /// The size of the photo; nil if the bundle has none, or no photo is kept.
    private(set) var photoSize: Int?
    private let photoLimit: Int
    private var location: [UInt8] = []
    private var current: EntryPath?
    private var size: DepthSize?
    private var reader: DepthMapReader?
    private var collector: DepthCollector?

    /// - Parameter photoLimit: The maximum number of bytes of a photo that is kept; 0 keeps none.
    init(photoLimit: Int = 0) { self.photoLimit = photoLimit }

    func read(_ head: BundleReader.Head, _ manifest: Manifest) throws(BundleError) { size = manifest.depth?.size }

    func begin(_ entry: ManifestEntry) throws(BundleError) {
        current = entry.path
        if entry.path == .depth, let size {
            reader = try DepthMapReader(size: size)
            collector = DepthCollector(size: size)
        }
        guard entry.path == .photo, photoLimit > 0 else { return }
        photoSize = entry.size
        guard entry.size <= photoLimit else { return }
        photo = []
        photo?.reserveCapacity(entry.size)
    }

    func consume(_ piece: Span<UInt8>) throws(BundleError) {
        switch current {
        case .depth?: try reader?.consume(piece) { collector?.add($0) }
        case .location?: location.append(copying: piece)
        case .photo?: photo?.append(copying: piece)
        default: break
        }
    }

    /// The depth map; nil if there is none or it could not be read to its end.
    var depth: DepthSamples? { reader?.fault == nil ? collector?.finish() : nil }

    /// The position; nil if there is none or it is malformed.
    var position: GeoPosition? { try? GeoPosition.decode(location) }
}
