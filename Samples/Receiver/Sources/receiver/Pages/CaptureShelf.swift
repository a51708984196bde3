import CaptureBundle
import CapturePages
import PictureClient
import CaptureQueue
import Logging
import SystemPackage

/// Reads stored captures for pages. All calls block, and are for the threads of `PageThreads`. They throw
/// `BundleElsewhere` if the bytes of a capture are not within reach.
final class CaptureShelf: Sendable {
    let captures: Captures
    let devices: Devices
    let hidesPlace: Bool
    let hasVerifyPage: Bool
    private let logger: Logger
    private let bundles: StoredBundles
    private let hiding = PlaceHiding()
    private let large: BundlePictures
    private let small: BundlePictures
    private let prepared = BoundedCache<PreparedContent>(limit: 16 << 20)
    private let thumbnails = BoundedCache<PagePicture?>(limit: 8 << 20)

    /// - Parameters:
    ///   - queue: Has the bytes of the captures, or knows the destinations that have them.
    ///   - scratch: The folder for temporary files.
    init(
        captures: Captures, queue: UploadQueue, devices: Devices, scratch: FilePath, hidesPlace: Bool,
        hasVerifyPage: Bool, logger: Logger
    ) {
        self.captures = captures
        self.devices = devices
        self.hidesPlace = hidesPlace
        self.hasVerifyPage = hasVerifyPage
        self.logger = logger
        bundles = StoredBundles(queue: queue, scratch: scratch)
        let decoder = PictureDecoder(executable: CompanionFile.decoder)
        large = BundlePictures(.large, decoder: decoder)
        small = BundlePictures(.small, decoder: decoder)
    }

    /// Verifies a capture and prepares everything that its page shows.
    ///
    /// - Returns: nil if no capture has this id.
    /// - Throws: `BundleUnavailable`, `StoreUnavailable`.
    func shown(_ id: String, _ reach: Reach) throws -> ShownCapture? {
        guard let row = try captures.capture(id) else { return nil }
        let device = try devices.device(row.device)
        let trust = try device?.trust() ?? TrustFile()
        let verifier = Verifier(trust: trust, policy: VerificationPolicy(allowsWithheld: true))
        return try bundles.withFile(of: id, reach) { path in
            let view = try verifier.view(BundleSource(file: path))
            return ShownCapture(
                row: row, device: device, view: view, content: try content(id, view, path), hidesPlace: hidesPlace,
                hasVerifyPage: hasVerifyPage)
        }
    }

    private func content(_ id: String, _ view: BundleView, _ path: FilePath) throws -> PreparedContent {
        if view.isSound, let known = prepared[id] { return known }
        let download: Download =
            hidesPlace ? try bundles.withScratchFile { try hiding.copy(path, to: $0) } : .whole
        let pictures = large.pictures(of: view)
        if let reason = pictures.reason { logger.warning("capture \(id): \(reason)") }
        let content = PreparedContent(pictures, download)
        if view.isSound { prepared.keep(content, bytes: content.bytes, as: id) }
        return content
    }

    /// The pictures of a capture; nil if no capture has this id.
    func pictures(_ id: String, _ reach: Reach) throws -> PreparedContent? {
        if let known = prepared[id], try !bundles.isGone(id) { return known }
        return try shown(id, reach)?.content
    }

    /// The small photo of a capture, or its depth map if it has no photo; nil if it has neither.
    func thumbnail(_ id: String, _ reach: Reach) throws -> PagePicture? {
        if let known = thumbnails[id], try !bundles.isGone(id) { return known }
        guard try captures.capture(id) != nil else { return nil }
        return try bundles.withFile(of: id, reach) { path in
            let view = try Verifier(trust: TrustFile()).view(BundleSource(file: path))
            let made = small.pictures(of: view)
            let picture = (made.photo ?? made.depth).map { PagePicture($0) }
            if view.isSound { thumbnails.keep(picture, bytes: (picture?.size ?? 0) + 500, as: id) }
            return picture
        }
    }

    /// Opens the bundle that readers may download.
    ///
    /// - Returns: nil if no capture has this id, or its place cannot be left out.
    func download(_ id: String, _ reach: Reach) throws -> FileContent? {
        guard try captures.capture(id) != nil else { return nil }
        return try bundles.withFile(of: id, reach) { path in
            guard hidesPlace else { return try FileContent(path) }
            return try bundles.withScratchFile { copy in
                if case .refused = try hiding.copy(path, to: copy) { return nil }
                return try FileContent(copy)
            }
        }
    }
}
