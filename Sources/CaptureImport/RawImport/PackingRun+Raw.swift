public import CaptureBundle
public import CaptureDevice
import CaptureNative
public import PictureClient
public import SystemPackage

extension PackingRun {
    /// Opens all RAWs and chooses the names of the bundles: `<raw name>.bundle` or `<raw name>-<frame>.bundle`.
    ///
    /// - Parameters:
    ///   - raws: The folders, archives and photos. A failure stands for a name that could not be read; it becomes the
    ///     result of that capture.
    ///   - replaces: Whether existing bundles are replaced.
    ///   - decoder: Decodes the depth maps and photos of other layouts.
    /// - Throws: `raw.time` if `options` give several RAWs one time (Spec/raw-captures.md section 5.1), `raw.clash` if
    ///   two captures have the same name, `output.exists` for the first bundle that exists already, and
    ///   `output.unusable` if `folder` is not a folder. Nothing is written then. With a chain, an existing bundle with a
    ///   link of that chain is not refused here, because it may be that of the capture.
    public init(
        _ raws: [Result<FilePath, BundleError>], into folder: FilePath, replaces: Bool = false, packer: Packer,
        options: RawCaptureOptions = RawCaptureOptions(), decoder: PictureDecoder = PictureDecoder()
    ) throws(BundleError) {
        guard raws.count <= 1 || options.capturedAt == nil || options.sharesTime else {
            throw BundleError(
                .rawTime, "--captured-at gives one time, but there are \(raws.count) captures", cause: .oneTime)
        }
        var remarks: [Remark] = []
        var items: [Item] = []
        for raw in raws {
            do throws(BundleError) {
                let source = try RawSource.open(raw.get(), options: options, decoder: decoder)
                remarks += source.remarks
                let frames = SourceFrames(source, options: options, decoder: decoder)
                items += source.frames.indices.map { Self.item($0, of: frames, folder, replaces: replaces) }
            } catch {
                let path = (try? raw.get()) ?? error.file.map { FilePath($0) } ?? ""
                items.append(Item(raw: path, frame: nil, output: .file(""), reading: .failure(error)))
            }
        }
        try self.init(items, remarks: remarks, into: folder, packer: packer)
    }

    /// Creates a run from names that are all readable.
    public init(
        _ raws: [FilePath], into folder: FilePath, replaces: Bool = false, packer: Packer,
        options: RawCaptureOptions = RawCaptureOptions(), decoder: PictureDecoder = PictureDecoder()
    ) throws(BundleError) {
        try self.init(
            raws.map { .success($0) }, into: folder, replaces: replaces, packer: packer, options: options,
            decoder: decoder)
    }

    private static func item(
        _ index: Int, of frames: SourceFrames, _ folder: FilePath, replaces: Bool
    ) -> Item {
        let (source, frame) = (frames.source, frames.source.frames[index])
        do throws(BundleError) {
            let path = folder.appending(try bundleName(source, frame))
            let reading: Reading = { try frames.read(index) }
            return Item(
                raw: source.raw, frame: frame.name, output: replaces ? .replacing(path) : .file(path),
                reading: .success(reading))
        } catch {
            return Item(raw: source.raw, frame: frame.name, output: .file(""), reading: .failure(error))
        }
    }

    private static func bundleName(_ source: RawSource, _ frame: RawFrame) throws(BundleError) -> FilePath.Component {
        let own = try source.name()
        let middle = frame.name.map { "-\($0)" } ?? ""
        let bytes = own.bytes + Array("\(middle).bundle".utf8)
        guard let bundle = FilePath.Component(bytes), !bytes.contains(UInt8(ascii: "/")) else {
            throw BundleError(.rawCapture, "its frame \(middle) has a name that a file cannot have", file: source.raw)
        }
        guard bytes.count <= FilePath.nameLimit else {
            throw BundleError(
                .rawCapture, "its bundle's name would be longer than \(FilePath.nameLimit) bytes", file: source.raw)
        }
        return bundle
    }
}

/// The frames of a RAW. All items of one RAW share one instance, so that only one copy of each frame is in memory.
private final class SourceFrames: Sendable {
    let source: RawSource
    private let options: RawCaptureOptions
    private let decoder: PictureDecoder

    init(_ source: RawSource, options: RawCaptureOptions, decoder: PictureDecoder) {
        (self.source, self.options, self.decoder) = (source, options, decoder)
    }

    func read(_ index: Int) throws(BundleError) -> RawCapture {
        try FrameReader.read(source.frames[index], of: source, options: options, decoder: decoder)
    }
}

extension Packer {
    /// Reads, signs and writes one capture.
    ///
    /// ```swift
    /// let packer = Packer(key: DeviceKeyFile(path: DeviceKeyFile.usualPath))
    /// let packed = try packer.pack("raw", to: .file("cap.bundle"))
    /// print(packed.id)
    /// ```
    ///
    /// - Parameters:
    ///   - body: The place for the upload body; nil makes no body.
    ///   - decoder: Decodes the depth maps and photos of other layouts.
    ///   - onRemark: Receives each remark about the capture before anything is signed or written, and remarks about
    ///     links of the chain that an earlier run left pending.
    /// - Throws: `raw.capture` and the other codes of Spec/raw-captures.md section 8, `input.unreadable`,
    ///   `output.exists`, `output.unusable`, `io.failed`, and the errors of `DeviceKeyFile`.
    public func pack(
        _ raw: FilePath, to output: OutputPlace, body: BodyPlaces? = nil,
        options: RawCaptureOptions = RawCaptureOptions(), decoder: PictureDecoder = PictureDecoder(),
        isDryRun: Bool = false, onRemark: (Remark) -> Void = { _ in }
    ) throws(BundleError) -> Packed {
        let source = try RawSource.open(raw, options: options, decoder: decoder)
        let capture = try FrameReader.read(source.single(), of: source, options: options, decoder: decoder)
        return try pack(
            capture, from: raw, remarks: source.remarks, to: output, body: body, isDryRun: isDryRun, onRemark: onRemark)
    }
}
