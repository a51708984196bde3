import CaptureBundle
import CaptureDevice
import CaptureImport
import CaptureNative
import CapturePages
import CommandSupport
import PictureClient
import SystemPackage

extension CaptureView {
    /// Reads a raw capture of any layout, or a bundle; `-` is a bundle from standard input. Every byte of a bundle is
    /// verified. Trust is not checked.
    ///
    /// - Parameters:
    ///   - options: The options for a raw capture. If it has several frames, `frames` must choose one.
    ///   - output: The place of the picture; nil for none. It is refused if it is a file of the capture.
    /// - Throws: `output.unusable`; the worst fault of a damaged bundle; the errors of `RawSource` and `FrameReader` for a
    ///   raw capture; `entry.absent` for a capture without a depth map; `input.unreadable`, `io.failed`.
    static func read(
        _ path: FilePath, withPhoto: Bool, options: RawCaptureOptions, output: OutputPlace?
    ) throws -> CaptureView {
        if let source = try bundle(path) { return try read(source, withPhoto: withPhoto) }
        return try read(raw: path, withPhoto, options, output)
    }

    /// The bundle at a path; nil for a raw capture: a folder, a photo or an archive. A bundle is a tar archive too, but
    /// its first entry is `mimetype`. The file is opened once, so what is read is what was found to be a bundle.
    private static func bundle(_ path: FilePath) throws -> BundleSource? {
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
        try native({ .reading(path, $0) }) { try handle.seekToStart() }
        return BundleSource(handle: handle, name: path.string)
    }

    private static func read(
        raw path: FilePath, _ withPhoto: Bool, _ options: RawCaptureOptions, _ output: OutputPlace?
    ) throws -> CaptureView {
        // A picture needs neither time nor model, so fixed values replace those that no file gives.
        var options = options
        options.capturedAt = options.capturedAt ?? CaptureTime("1970-01-01T00:00:00Z")
        options.timeZone = options.timeZone ?? ZoneOffset("Z")
        options.deviceModel = options.deviceModel ?? "unknown"
        let kind = FileKind(file: path)
        options.convertsPhoto = options.patterns != nil || kind?.family == .heif || kind?.format == .png
        let decoder = PictureDecoder()
        let source = try RawSource.open(path, options: options, decoder: decoder)
        guard let frame = source.frames.first, source.frames.count == 1 else {
            throw BundleError(
                .rawFrames, "has \(source.frames.count) frames with a photo, expected one", file: path,
                cause: .severalToShow, values: source.frames.prefix(4).compactMap { $0.number.map(String.init) })
        }
        try output?.refuse(inputs: source.files(of: frame))
        let raw: RawCapture
        do { raw = try FrameReader.read(frame, of: source, options: options, decoder: decoder) } catch {
            // The advice to pack without a depth map does not help here.
            let causes: [BundleError.Cause] = [.noDepth, .noDepthInside, .rewrittenPhoto]
            let lack = ([error] + error.further).first { fault in fault.cause.map(causes.contains) ?? false }
            throw lack.map { BundleError(.entryAbsent, $0.message, file: $0.file) } ?? error
        }
        guard let depth = raw.depth else { throw absent(.depth, in: path.string) }
        var collector = DepthCollector(size: depth.size)
        try depth.floats.stream(size: depth.size.byteCount, sha256: depth.sha256) { collector.add($0) }
        guard let samples = collector.finish() else { throw incomplete(path.string) }
        var photo: [UInt8] = []
        if withPhoto {
            guard raw.photo.size <= photoLimit else { throw tooLarge(path.string, raw.photo.size) }
            try raw.photo.content.stream(size: raw.photo.size, sha256: raw.photo.sha256) { photo.append(copying: $0) }
        }
        return CaptureView(name: path.string, photo: withPhoto ? photo : nil, depth: samples)
    }
}
