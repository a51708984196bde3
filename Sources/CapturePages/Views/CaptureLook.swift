package import CaptureBundle
import CaptureNative
import SystemPackage

/// The photo and the depth map of one capture, for showing them as pictures.
package struct CaptureLook: Sendable {
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

    /// Reads a bundle once, for what `Inspection` shows and for pictures.
    ///
    /// - Returns: The inspection, and the look, which is a failure if the bundle is not sound or has no depth map.
    /// - Throws: The errors of `Inspection`.
    package static func inspect(
        _ source: BundleSource
    ) throws(BundleError) -> (inspection: Inspection, look: Result<CaptureLook, BundleError>) {
        let collector = LookCollector(withPhoto: true)
        let inspection = try Inspection(source, alsoFor: collector)
        do throws(BundleError) {
            try inspection.report.requireSound(source.name)
            return (inspection, .success(try collector.look(source.name, inspection.report)))
        } catch {
            return (inspection, .failure(error))
        }
    }

    /// Reads a bundle. Every byte of it is verified. Trust is not checked.
    ///
    /// - Throws: The worst fault of a damaged bundle; `entry.absent` for a capture without a depth map;
    ///   `input.unreadable`, `io.failed`.
    package static func read(_ source: BundleSource, withPhoto: Bool) throws(BundleError) -> CaptureLook {
        let collector = LookCollector(withPhoto: withPhoto)
        let report = try Verifier.soundness.verify(BundleReader(source), observer: collector)
        try report.requireSound(source.name)
        return try collector.look(source.name, report)
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

/// Collects the photo and the depth map of a bundle while it is verified.
final class LookCollector: BundleObserver {
    private let withPhoto: Bool
    private var photo: [UInt8] = []
    private var photoSize: Int?
    private var size: DepthSize?
    private var reader: DepthMapReader?
    private var collector: DepthCollector?
    private var current: EntryPath?

    init(withPhoto: Bool) { self.withPhoto = withPhoto }

    func read(_ head: BundleReader.Head, _ manifest: Manifest) throws(BundleError) { size = manifest.depth?.size }

    func begin(_ entry: ManifestEntry) throws(BundleError) {
        current = entry.path
        if current == .photo { photoSize = entry.size }
        if current == .depth, let size {
            reader = try DepthMapReader(size: size)
            collector = DepthCollector(size: size)
        }
    }

    func consume(_ piece: Span<UInt8>) throws(BundleError) {
        if current == .depth { try reader?.consume(piece) { collector?.add($0) } }
        if current == .photo, withPhoto, let photoSize, photoSize <= CaptureLook.photoLimit {
            photo.append(copying: piece)
        }
    }

    /// Returns what was collected. It is called only after the bundle was found to be sound.
    func look(_ name: String, _ report: VerificationReport) throws(BundleError) -> CaptureLook {
        guard let collector else { throw CaptureLook.noDepth(name, isWithheld: report.withheld.contains(.depth)) }
        guard let depth = collector.finish() else { throw CaptureLook.incomplete(name) }
        if withPhoto, let photoSize, photoSize > CaptureLook.photoLimit { throw CaptureLook.tooLarge(name, photoSize) }
        return CaptureLook(
            name: name, photo: withPhoto && photoSize != nil ? photo : nil, depth: depth,
            isPhotoWithheld: report.withheld.contains(.photo))
    }
}
