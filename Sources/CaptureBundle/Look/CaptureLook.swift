import CaptureNative
package import SystemPackage

/// The photo and the depth map of one capture, for showing them as pictures.
package struct CaptureLook: Sendable {
    /// The name of the bundle or the raw capture in messages.
    package let name: String
    /// The bytes of the photo; nil unless the caller asked for it.
    package let photo: [UInt8]?
    package let depth: DepthSamples
    private(set) var isPhotoWithheld = false

    /// The maximum number of bytes of a photo. A decoded photo has to be in memory as a whole.
    static let photoLimit = 1 << 28

    /// Reads a raw capture of any layout, or a bundle; `-` is a bundle from standard input. Every byte of a bundle is
    /// verified. Trust is not checked.
    ///
    /// - Parameter options: The options for a raw capture. If it has several frames, `frames` must choose one.
    /// - Throws: The worst fault of a damaged bundle; the errors of `RawSource` and `FrameReader` for a raw capture;
    ///   `entry.absent` for a capture without a depth map; `input.unreadable`, `io.failed`.
    package static func read(
        _ path: FilePath, withPhoto: Bool, options: RawCaptureOptions = RawCaptureOptions(),
        _ decoder: PictureDecoder = PictureDecoder()
    ) throws(BundleError) -> CaptureLook {
        if let source = try bundle(path) { return try read(source, withPhoto: withPhoto) }
        return try read(raw: path, withPhoto, options, decoder)
    }

    /// The files that `read` opens for a path, if their names are known before reading.
    package static func files(of path: FilePath) -> [FilePath] {
        if path == "-" { return [] }
        let names = [RawCaptureReader.photoName, RawCaptureReader.depthName, RawCaptureReader.metadataName]
        return [path] + names.map { path.appending($0) }
    }

    /// The bundle at a path; nil for a raw capture: a folder, a photo or an archive. A bundle is a tar archive too, but
    /// its first entry is `mimetype`. The file is opened once, so what is read is what was found to be a bundle.
    private static func bundle(_ path: FilePath) throws(BundleError) -> BundleSource? {
        if path == "-" { return try BundleSource(path: path) }
        if (try? FileStatus.of(path))?.kind == .folder { return nil }
        var start = [UInt8](repeating: 0, count: FileKind.length)
        guard let handle = (try? FileHandle.readingPlainFile(path)) ?? nil, let count = try? handle.read(into: &start)
        else { return try BundleSource(path: path) }
        switch FileKind(Array(start[..<count]))?.family {
        case .jpeg, .heif, .zip, .compressed: return nil
        case .tar where !start.starts(with: "mimetype".utf8): return nil
        default: break
        }
        do { try handle.seekToStart() } catch { throw .reading(path, error) }
        return BundleSource(handle: handle, name: path.string)
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

    private static func read(_ source: BundleSource, withPhoto: Bool) throws(BundleError) -> CaptureLook {
        let collector = LookCollector(withPhoto: withPhoto)
        let report = try Verifier.soundness.verify(BundleReader(source), observer: collector)
        try report.requireSound(source.name)
        return try collector.look(source.name, report)
    }

    private static func read(
        raw path: FilePath, _ withPhoto: Bool, _ options: RawCaptureOptions, _ decoder: PictureDecoder
    ) throws(BundleError) -> CaptureLook {
        // A picture needs neither time nor model, so fixed values replace those that no file gives.
        var options = options
        options.capturedAt = options.capturedAt ?? CaptureTime("1970-01-01T00:00:00Z")
        options.timeZone = options.timeZone ?? ZoneOffset("Z")
        options.deviceModel = options.deviceModel ?? "unknown"
        let kind = FileKind(file: path)
        options.convertsPhoto = options.patterns != nil || kind?.family == .heif || kind?.isPNG == true
        let source = try RawSource.open(path, options, decoder)
        guard let frame = source.frames.first, source.frames.count == 1 else {
            let numbers = source.frames.prefix(4).compactMap { $0.number.map(String.init) }
            let some = numbers.isEmpty ? "" : ", such as \(numbers.joined(separator: ", "))"
            throw BundleError(
                .rawFrames, "has \(source.frames.count) frames with a photo, expected one", file: path,
                hints: ["choose one with --frames NUMBER\(some)"])
        }
        let raw = try FrameReader.read(frame, of: source, options, decoder)
        guard let depth = raw.depth else { throw noDepth(path.string) }
        var collector = DepthCollector(size: depth.size)
        try depth.floats.stream(size: depth.size.byteCount, sha256: depth.sha256) { collector.add($0) }
        guard let samples = collector.finish() else { throw incomplete(path.string) }
        var photo: [UInt8] = []
        if withPhoto {
            guard raw.photo.size <= photoLimit else { throw tooLarge(path.string, raw.photo.size) }
            try raw.photo.content.stream(size: raw.photo.size, sha256: raw.photo.sha256) { photo.append(copying: $0) }
        }
        return CaptureLook(name: path.string, photo: withPhoto ? photo : nil, depth: samples)
    }

    fileprivate static func noDepth(_ name: String, isWithheld: Bool = false) -> BundleError {
        let reason = isWithheld ? "was withheld from this bundle" : "is not in this capture"
        return BundleError(.entryAbsent, reason, file: name, entry: EntryPath.depth.description)
    }

    fileprivate static func tooLarge(_ name: String, _ size: Int) -> BundleError {
        BundleError(
            .entryAbsent, "has \(size) bytes; pictures can be made of photos with at most \(photoLimit) bytes",
            file: name, entry: EntryPath.photo.description)
    }

    fileprivate static func incomplete(_ name: String) -> BundleError {
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
