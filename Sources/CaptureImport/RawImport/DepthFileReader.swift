import CaptureBundle
import CaptureNative
import PictureClient
import SystemPackage

/// Reads a depth file in any encoding (Spec/raw-captures.md section 3).
struct DepthFileReader {
    private let file: RawFrame.DepthFile
    private let size: DepthSize?
    private let options: RawCaptureOptions
    private let decoder: PictureDecoder

    /// - Parameter said: The size, for encodings that do not contain it.
    init(
        _ file: RawFrame.DepthFile, said size: DepthSize?, _ options: RawCaptureOptions, _ decoder: PictureDecoder
    ) {
        (self.file, self.size, self.options, self.decoder) = (file, size, options, decoder)
    }

    /// The samples, not yet in metres, and the name of the encoding for the manifest.
    private struct Samples {
        let grid: SampleGrid
        let encoding: String
        var rowOrder = "top-first"
    }

    /// - Throws: `raw.depth` if the file cannot be read in its encoding, `raw.unit` if the unit is unknown.
    func read(_ tree: RawTree) throws(BundleError) -> DepthFloats {
        let label = tree.label(file.path)
        if let floats = try plainFloats(tree, label) { return floats }
        let bytes = try tree.read(file.path, limit: FileLimits.depth)
        let samples = try decode(bytes, label)
        let scale = try scale(of: samples.grid.values, label)
        let missing = isMaxMissing(samples.grid.values) ? samples.grid.values.maxCount : 0
        let isFloats = if case .float32 = samples.grid.values { true } else { false }
        let invalid = isFloats ? "nan-or-zero" : missing > 0 ? "zero-or-max" : "zero"
        return try DepthFloats(
            [UInt8](littleEndian: scale.metres(samples.grid, isMaxMissing: missing > 0)), samples.grid.size,
            DepthDescription.Source(
                encoding: samples.encoding, invalid: invalid, rowOrder: samples.rowOrder, scale: scale.description),
            maxCount: missing)
    }

    /// Reads a file on disk that already is what the bundle needs: a large one is not read into memory. One that is too
    /// long for its size is refused by its length.
    private func plainFloats(_ tree: RawTree, _ label: FilePath) throws(BundleError) -> DepthFloats? {
        let scale = options.depthScale ?? file.floatScale ?? file.scale
        guard isPlain, scale == .metres, let size, let handle = try tree.handle(file.path) else { return nil }
        let length = try native({ .reading(label, $0) }) { () throws(NativeError) in try handle.status().size }
        guard length == size.byteCount else {
            if length > size.entryLimit { throw wrongLength(length, size, label) }
            return nil
        }
        guard length <= DepthMapCodec.memoryLimit else { return try DepthFloats(handle, size, label) }
        let bytes = try tree.read(file.path, limit: length)
        return bytes.count == length ? try DepthFloats(bytes, size, .plain) : nil
    }

    /// Whether the highest number of an integer sample means "not measured".
    private func isMaxMissing(_ values: SampleGrid.Values) -> Bool {
        if let given = options.depthInvalid { return given == .zeroOrMax }
        if case .uint16 = values { return true }
        return false
    }

    private static let endings = ".f32, .bin, .raw, .gz, .zlib, .deflate, .npy, .pfm, .pgm, .png, .tif, .tiff or .exr"

    /// Whether a file with this ending does not contain its size.
    static func needsSize(_ path: FilePath) -> Bool {
        ["f32", "bin", "raw", "gz", "zlib", "deflate"].contains(path.ending)
    }

    private func decode(_ bytes: [UInt8], _ label: FilePath) throws(BundleError) -> Samples {
        switch file.path.ending {
        case "npy", "pfm", "pgm": do { return try plainFormat(bytes) } catch { throw Self.wrong(error, label) }
        case "npz":
            throw BundleError(
                .rawDepth, "is an archive of NumPy arrays, expected one array (.npy)", file: label,
                hints: DepthAdvice.unpacking(label))
        case "png": return try picture(bytes, .png, "png", label)
        case "tif", "tiff": return try picture(bytes, .tiff, "tiff", label)
        case "exr": return try picture(bytes, .openEXR, "exr", label)
        case _ where Self.needsSize(file.path): return try floats(bytes, label)
        default:
            throw BundleError(
                .rawDepth, "has an unknown ending, expected \(Self.endings)", file: label)
        }
    }

    /// Reads a format without compression.
    private func plainFormat(_ bytes: [UInt8]) throws(DepthFormatFailure) -> Samples {
        switch file.path.ending {
        case "npy":
            let array = try NumpyArray.read(bytes)
            return Samples(grid: array.grid, encoding: "npy-\(array.type)")
        case "pfm": return Samples(grid: try PortableFloatMap.decode(bytes), encoding: "pfm", rowOrder: "bottom-first")
        default:
            let grid = try PortableGrayMap.decode(bytes)
            if case .uint8 = grid.values { return Samples(grid: grid, encoding: "pgm-u8") }
            return Samples(grid: grid, encoding: "pgm-u16")
        }
    }

    private static func wrong(_ failure: DepthFormatFailure, _ label: FilePath) -> BundleError {
        BundleError(.rawDepth, failure.message, file: label)
    }

    private func picture(
        _ bytes: [UInt8], _ format: PictureDecoder.SampleFormat, _ name: String, _ label: FilePath
    ) throws(BundleError) -> Samples {
        let grid: SampleGrid
        do { grid = try decoder.samples(bytes, format) } catch { throw error.error(label, code: .rawDepth) }
        switch grid.values {
        case .uint8: return Samples(grid: grid, encoding: "\(name)-u8")
        case .uint16: return Samples(grid: grid, encoding: "\(name)-u16")
        case .float32: return Samples(grid: grid, encoding: OpenEXRHeader.isHalf(bytes) ? "\(name)-f16" : "\(name)-f32")
        }
    }

    /// Reads raw floats, plain or compressed.
    private func floats(_ bytes: [UInt8], _ label: FilePath) throws(BundleError) -> Samples {
        guard let size else {
            throw BundleError(
                .rawDepth, "does not contain its width and height, and no other file gives them", file: label,
                hints: [.set(.depthSize)])
        }
        do {
            if isPlain && bytes.count == size.byteCount {
                return Samples(grid: try RawFloats.decode(bytes, size: size), encoding: DepthDescription.encoding)
            }
            let wrapper = CompressedFloats.Wrapper(bytes)
            let grid = try CompressedFloats.decode(bytes, size: size)
            return Samples(grid: grid, encoding: "\(DepthDescription.encoding)+\(wrapper.rawValue)")
        } catch {
            // Any bytes can be taken for raw deflate, so a wrong length is the more likely fault.
            guard isPlain, CompressedFloats.Wrapper(bytes) == .deflate else {
                throw Self.wrong(error, label)
            }
            throw wrongLength(bytes.count, size, label)
        }
    }

    /// Whether the file may have raw floats that are not compressed.
    private var isPlain: Bool { ["f32", "bin", "raw"].contains(file.path.ending) }

    private func wrongLength(_ count: Int, _ size: DepthSize, _ label: FilePath) -> BundleError {
        BundleError(
            .rawDepth, "has \(count) bytes, expected \(size.byteCount) (4 x \(size.width) x \(size.height))",
            file: label, hints: DepthAdvice.hints(length: count, size))
    }

    /// The number of metres in one unit: the option, else the layout.
    private func scale(of values: SampleGrid.Values, _ label: FilePath) throws(BundleError) -> DepthScale {
        if let given = options.depthScale { return given }
        let unit = Hint.set(.depthUnit)
        switch values {
        case .uint8:
            throw BundleError(
                .rawUnit, "has 8-bit samples, which are rarely in metres or millimetres", file: label, hints: [unit])
        case .uint16:
            if let scale = file.scale { return scale }
        case .float32:
            if let scale = file.floatScale ?? file.scale { return scale }
        }
        throw BundleError(.rawUnit, "has samples in an unknown unit", file: label, hints: [unit])
    }
}
