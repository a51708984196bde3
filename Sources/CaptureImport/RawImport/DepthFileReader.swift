import CaptureBundle
import CaptureNative
import PictureClient
import PictureMessages
import SystemPackage

/// Reads a depth file in any encoding (Spec/raw-captures.md section 3).
struct DepthFileReader {
    let file: RawFrame.DepthFile
    /// The size, for encodings that do not contain it.
    let size: DepthSize?
    let options: RawCaptureOptions
    let decoder: PictureDecoder
    let tree: RawTree

    private var label: FilePath { tree.label(file.path) }

    /// The samples, not yet in metres, and the name of the encoding for the manifest.
    private struct Samples {
        let grid: SampleGrid
        let encoding: String
        var rowOrder = "top-first"
        /// The scale factor of a portable float map.
        var factor = 1.0
    }

    /// - Throws: `raw.depth` if the file cannot be read in its encoding, `raw.unit` if the unit is unknown.
    func read() throws(BundleError) -> DepthFloats {
        if let floats = try plainFloats() { return floats }
        let bytes = try tree.read(file.path, limit: FileLimits.depth)
        let samples: Samples
        do { samples = try decode(bytes) } catch { throw error.error(label, code: .rawDepth) }
        let grid = samples.grid
        let scale = try scale(of: samples)
        let limit = limit(of: grid)
        let missing = limit == .infinity ? 0 : grid.count(above: limit)
        let isMax = missing > 0 && options.depthInvalidAbove == nil
        var notes = grid.notes
        if isMax {
            let words = "--depth-invalid zero takes them as distances"
            notes.append("has samples of \(grid.highest), which are taken as not measured (\(words))")
        } else if missing > 0 {
            notes.append("has \(missing) samples above \(DepthScale.text(limit)), which are taken as not measured")
        }
        return try DepthFloats(
            [UInt8](littleEndian: scale.metres(grid, limit: missing > 0 ? limit : .infinity)), size: grid.size,
            file: label,
            source: DepthDescription.Source(
                encoding: samples.encoding,
                invalid: grid.type.isFloat ? "nan-or-zero" : isMax ? "zero-or-max" : "zero",
                rowOrder: samples.rowOrder, scale: scale.description), notes: notes,
            orientation: file.path.ending == "png"
                ? PNGChunks(bytes)?.exif.flatMap { PhotoFacts(exif: $0) }?.orientation : nil)
    }

    /// Reads a file on disk that already is what the bundle needs: a large one is not read into memory. One that is too
    /// long for its size is refused by its length.
    private func plainFloats() throws(BundleError) -> DepthFloats? {
        let scale = options.depthScale ?? file.floatScale ?? file.scale
        guard isPlain, scale == .metres, options.depthInvalidAbove == nil, let size,
            let handle = try tree.handle(file.path)
        else { return nil }
        let length = try native({ .reading(label, $0) }) { try handle.status().size }
        guard length == size.byteCount else {
            if length > size.entryLimit { throw wrongLength(length, size: size).error(label, code: .rawDepth) }
            return nil
        }
        guard length <= DepthMapCodec.memoryLimit else { return try DepthFloats(handle, size: size, file: label) }
        let bytes = try tree.read(file.path, limit: length)
        return bytes.count == length ? try DepthFloats(bytes, size: size, file: label, source: .plain) : nil
    }

    /// The number above which samples are not measured. Many cameras write the highest of 16 bits for that.
    private func limit(of grid: SampleGrid) -> Double {
        if let above = options.depthInvalidAbove { return above }
        let isMaxMissing = options.depthInvalid.map { $0 == .zeroOrMax } ?? (grid.type == .uint16)
        return isMaxMissing && !grid.type.isFloat ? Double(grid.highest) - 1 : .infinity
    }

    private static let endings = ".f32, .bin, .raw, .gz, .zlib, .deflate, .npy, .pfm, .pgm, .png, .tif, .tiff or .exr"

    /// Whether a file with this ending does not contain its size.
    static func needsSize(_ path: FilePath) -> Bool {
        ["f32", "bin", "raw", "gz", "zlib", "deflate"].contains(path.ending)
    }

    private func decode(_ bytes: [UInt8]) throws(PictureFailure) -> Samples {
        if options.depthChannel != nil, file.path.ending != "exr" {
            throw wrong("is not an OpenEXR file (.exr), in which --depth-channel names a channel")
        }
        switch file.path.ending {
        case "npy":
            let grid = try NumpyArray.decode(bytes)
            return Samples(grid: grid, encoding: "npy-\(grid.type.numpyName)")
        case "pfm", "pgm":
            let (grid, factor) = try PortableMap.decode(bytes)
            guard grid.type.isFloat else { return Samples(grid: grid, encoding: "pgm-\(grid.type.rawValue)") }
            return Samples(grid: grid, encoding: "pfm", rowOrder: "bottom-first", factor: factor)
        case "npz": throw wrong("is an archive of NumPy arrays, expected one array (.npy)", .numpyArchive)
        case "png": return try picture(bytes, as: .png, named: "png")
        case "tif", "tiff": return try picture(bytes, as: .tiff, named: "tiff")
        case "exr": return try picture(bytes, as: .openEXR, named: "exr")
        case _ where Self.needsSize(file.path): return try floats(bytes)
        default: throw wrong("has an unknown ending, expected \(Self.endings)")
        }
    }

    private func wrong(_ message: String, _ cause: BundleError.Cause? = nil, values: [String] = []) -> PictureFailure {
        PictureFailure(.unsupported, message, cause: cause, values: values)
    }

    private func picture(
        _ bytes: [UInt8], as format: PictureDecoder.SampleFormat, named name: String
    ) throws(PictureFailure) -> Samples {
        let grid = try decoder.samples(bytes, format, channel: options.depthChannel ?? "")
        return Samples(grid: grid, encoding: "\(name)-\(grid.type.rawValue)")
    }

    /// Reads raw floats, plain or compressed.
    private func floats(_ bytes: [UInt8]) throws(PictureFailure) -> Samples {
        guard let size else {
            throw wrong("does not contain its width and height, and no other file gives them", .noDepthSize)
        }
        do {
            if isPlain && bytes.count == size.byteCount {
                let grid = try SampleGrid(bytes[...], .float32, isLittleEndian: true, size: size)
                return Samples(grid: grid, encoding: DepthDescription.encoding)
            }
            // Only a unit tells integers from half floats.
            if ["bin", "raw"].contains(file.path.ending), options.depthScale != nil, 2 * bytes.count == size.byteCount {
                let grid = try SampleGrid(bytes[...], .uint16, isLittleEndian: true, size: size)
                return Samples(grid: grid, encoding: "uint16-le")
            }
            let wrapper = CompressedFloats.Wrapper(bytes)
            let grid = try CompressedFloats.decode(bytes, size: size)
            return Samples(grid: grid, encoding: "\(DepthDescription.encoding)+\(wrapper.rawValue)")
        } catch {
            // Any bytes can be taken for raw deflate, so a wrong length is the more likely fault.
            throw isPlain && CompressedFloats.Wrapper(bytes) == .deflate ? wrongLength(bytes.count, size: size) : error
        }
    }

    /// Whether the file may have raw floats that are not compressed.
    private var isPlain: Bool { ["f32", "bin", "raw"].contains(file.path.ending) }

    private func wrongLength(_ count: Int, size: DepthSize) -> PictureFailure {
        wrong(
            "has \(count) bytes, expected \(size.byteCount) (4 x \(size.width) x \(size.height))", .depthLength,
            values: [count, size.width, size.height].map(String.init))
    }

    /// The number of metres in one unit: the option, else the layout.
    private func scale(of samples: Samples) throws(BundleError) -> DepthScale {
        let isFloat = samples.grid.type.isFloat
        if let given = options.depthScale {
            guard !isFloat, given.metres > 1 else { return given }
            // It probably is how many units a metre has.
            let meant = DepthScale("\(1 / given.metres)")?.description
            throw BundleError(
                .rawUnit, "has integers, of which --depth-scale \(given) makes one unit \(given) m", file: label,
                cause: .largeUnit, values: [meant].compactMap(\.self))
        }
        var message = "has samples in an unknown unit"
        if samples.factor != 1 {
            message =
                "is a portable float map with the scale factor \(DepthScale.text(samples.factor)), by which some programs divide its samples (OpenCV) and others do not"
        } else if samples.grid.type == .uint8 {
            message = "has 8-bit samples, which are rarely in metres or millimetres"
        } else if let scale = isFloat ? file.floatScale ?? file.scale : file.scale {
            return scale
        }
        throw BundleError(.rawUnit, message, file: label)
    }
}
