package import CaptureBundle
import SystemPackage

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
        do throws(BundleError) {
            return (bundle, .success(try CaptureView(source.name, bundle.report, collector)))
        } catch {
            return (bundle, .failure(error))
        }
    }

    /// Reads a bundle. Every byte of it is verified. Trust is not checked.
    ///
    /// - Throws: The worst fault of a damaged bundle; `entry.absent` for a capture without a depth map;
    ///   `input.unreadable`, `io.failed`.
    package static func read(_ source: BundleSource, withPhoto: Bool) throws(BundleError) -> CaptureView {
        let collector = ContentCollector(photoLimit: withPhoto ? photoLimit : 0)
        let report = try Verifier.soundness.verify(BundleReader(source), observer: collector)
        return try CaptureView(source.name, report, collector, withPhoto: withPhoto)
    }

    private init(
        _ name: String, _ report: VerificationReport, _ collector: ContentCollector, withPhoto: Bool = true
    ) throws(BundleError) {
        try report.requireSound(name)
        guard report.manifest?.depth != nil, !report.withheld.contains(.depth) else {
            throw Self.noDepth(name, isWithheld: report.withheld.contains(.depth))
        }
        guard let depth = collector.depth else { throw Self.incomplete(name) }
        if withPhoto, let size = collector.photoSize, size > Self.photoLimit { throw Self.tooLarge(name, size) }
        self.init(
            name: name, photo: collector.photo, depth: depth, isPhotoWithheld: report.withheld.contains(.photo))
    }

    package static func noDepth(_ name: String, isWithheld: Bool = false) -> BundleError {
        let reason = isWithheld ? "was withheld from this bundle" : "is not in this capture"
        return BundleError(.entryAbsent, reason, file: name, entry: EntryPath.depth.description)
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
