package import CaptureBundle
import CaptureDevice
import CaptureNative
package import PictureClient
import PictureMessages
import SystemPackage

/// Raw floats in one gzip member (RFC 1952), one zlib stream (RFC 1950) or one raw deflate stream (RFC 1951).
///
/// The first bytes say which. `1f 8b` is gzip. `78` is zlib if the first two bytes, as one big-endian number, are a
/// multiple of 31. Anything else is raw deflate. Apple's Compression framework writes raw deflate and calls it zlib.
package enum CompressedFloats {
    package enum Wrapper: String, Sendable {
        case gzip, zlib, deflate

        /// Finds the wrapper from the first bytes.
        package init(_ bytes: [UInt8]) {
            if bytes.starts(with: [0x1f, 0x8b]) {
                self = .gzip
            } else if bytes.count >= 2, bytes[0] == 0x78, (Int(bytes[0]) << 8 | Int(bytes[1])) % 31 == 0 {
                self = .zlib
            } else {
                self = .deflate
            }
        }
    }

    /// Inflates exactly the floats of `size`.
    ///
    /// - Throws: unless the bytes are one stream with a right checksum and nothing after it, of exactly
    ///   4 · width · height bytes. No more than that is ever inflated.
    package static func decode(_ bytes: [UInt8], size: DepthSize) throws(PictureFailure) -> SampleGrid {
        let wrapper = Wrapper(bytes)
        var floats: [UInt8] = []
        var output = [UInt8](repeating: 0, count: min(size.byteCount + 1, 1 << 16))
        var position = 0
        do {
            let inflater = try Inflater(wrapper.form)
            while true {
                let rest = bytes.span.extracting(droppingFirst: position)
                let step = try inflater.inflate(rest, into: &output)
                position += step.consumed
                floats += output[..<step.produced]
                if floats.count > size.byteCount {
                    throw PictureFailure.malformed("inflates to more than \(size.byteCount) bytes, which \(size) has")
                }
                switch step.outcome {
                case .finished where position < bytes.count:
                    throw PictureFailure.malformed(
                        "has \(bytes.count - position) bytes after the end of its \(wrapper.words) data")
                case .finished where floats.count < size.byteCount:
                    let found = "\(floats.count) bytes (\(wrapper.rawValue))"
                    throw PictureFailure.malformed("inflates to \(found), expected \(size.byteCount) for \(size)")
                case .finished: return try SampleGrid(floats[...], .float32, isLittleEndian: true, size: size)
                // zlib also stops before the last bytes of the stream, without having used all of its input.
                case .outputFull, .blockEnded: continue
                case .needsInput where step.consumed > 0 || step.produced > 0: continue
                case .needsInput: throw PictureFailure.malformed("is \(wrapper.words) data that is cut off")
                case .corrupt where wrapper != .deflate && floats.count == size.byteCount:
                    throw PictureFailure.malformed("is damaged \(wrapper.words) data: its checksum is wrong")
                case .corrupt: throw PictureFailure.malformed("is not valid \(wrapper.words) data")
                }
            }
        } catch let failure as PictureFailure {
            throw failure
        } catch {
            throw .malformed("cannot be inflated: \(error)")
        }
    }
}

extension CompressedFloats.Wrapper {
    /// The name of the format in a message.
    fileprivate var words: String { self == .deflate ? "raw deflate" : rawValue }

    fileprivate var form: Inflater.Form { self == .deflate ? .raw : self == .zlib ? .zlib : .gzip }
}

/// A depth map in the form for a bundle, and what is to be said about it.
struct DepthFloats {
    /// Its floats are little-endian, row-major, top row first, in metres.
    let depth: RawCapture.Depth
    let survey: DepthSurvey
    /// What the user must know about how the samples were read.
    private(set) var notes: [String] = []
    /// How the file says that its picture is turned, as EXIF does.
    private(set) var orientation: Int?

    init(
        _ bytes: [UInt8], size: DepthSize, file: FilePath, source: DepthDescription.Source, notes: [String] = [],
        orientation: Int? = nil
    ) throws(BundleError) {
        var survey = DepthSurvey()
        survey.add(bytes.span)
        depth = RawCapture.Depth(
            floats: .bytes(bytes), size: size, sha256: try Digest.of(bytes), file: file, source: source)
        (self.survey, self.notes, self.orientation) = (survey, notes, orientation)
    }

    /// Reads a file of floats in metres in pieces.
    init(_ handle: FileHandle, size: DepthSize, file: FilePath) throws(BundleError) {
        var survey = DepthSurvey()
        let name = file.string
        let sha256 = try PayloadContent.hash(handle, name: name, expecting: size.byteCount) { survey.add($0) }
        depth = RawCapture.Depth(
            floats: .file(handle, name: name), size: size, sha256: sha256, file: file, source: .plain)
        self.survey = survey
    }
}
