import CTurboJPEG
import Glibc
import PictureMessages

/// Decodes and encodes JPEG, with TurboJPEG.
@safe
final class JPEGDecoder {
    private let decompressor: tjhandle
    private let compressor: tjhandle

    /// Nil if memory runs out.
    init?() {
        guard let decompressor = unsafe tjInitDecompress(), let compressor = unsafe tjInitCompress() else { return nil }
        unsafe self.decompressor = unsafe decompressor
        unsafe self.compressor = unsafe compressor
    }

    deinit {
        unsafe tjDestroy(decompressor)
        unsafe tjDestroy(compressor)
    }

    /// Encodes and decodes once. libjpeg-turbo then detects the features of the processor. For this it reads
    /// /proc/cpuinfo on some processors, so it must happen before the sandbox closes.
    func warmUp() {
        let grey = [UInt8](repeating: 128, count: 16 * 16 * 3)
        guard let file = try? encode(PixelImage(16, 16, grey), quality: 90) else { return }
        let request = PictureRequest(.pixels(.jpeg, eighths: 8), byteCount: file.count, hasAllMemory: true)
        _ = try? pixels(file, eighths: 8, MemoryShare(request: request))
    }

    /// Decodes a picture with one channel.
    func samples(_ file: [UInt8], _ memory: MemoryShare) throws(DecodingRefusal) -> Samples {
        let header = try header(file)
        guard header.colours == TJCS_GRAY.rawValue else {
            throw .unsupported("is a JPEG in colour, expected one grey channel")
        }
        let size = (header.width, header.height)
        let bytes = try decode(
            file, header: header, size: size, format: TJPF_GRAY, each: 1, memory: memory, isStrict: true)
        return Samples(width: header.width, height: header.height, type: .uint8, bytes: bytes)
    }

    /// Decodes a picture to 8-bit RGB, reduced to `eighths` eighths of its size: 1, 2, 4 or 8.
    func pixels(_ file: [UInt8], eighths: Int, _ memory: MemoryShare) throws(DecodingRefusal) -> PixelImage {
        let header = try header(file)
        guard ![TJCS_CMYK.rawValue, TJCS_YCCK.rawValue].contains(header.colours) else {
            throw .unsupported("is a JPEG for print (CMYK), expected RGB or grey")
        }
        let (width, height) = ((header.width * eighths + 7) / 8, (header.height * eighths + 7) / 8)
        let bytes = try decode(
            file, header: header, size: (width, height), format: TJPF_RGB, each: 3, memory: memory, isStrict: false)
        return try PixelImage(width, height, bytes)
    }

    /// A JPEG without metadata.
    func encode(_ pixels: PixelImage, quality: Int) throws(DecodingRefusal) -> [UInt8] {
        var file: UnsafeMutablePointer<UInt8>?
        var count: UInt = 0
        defer { unsafe tjFree(file) }
        // A high quality gets the full colour resolution.
        let subsampling = quality >= 90 ? TJSAMP_444 : TJSAMP_420
        let code = unsafe pixels.rgb.read { source, _ in
            unsafe tjCompress2(
                compressor, source, Int32(pixels.width), 0, Int32(pixels.height), Int32(TJPF_RGB.rawValue), &file,
                &count, Int32(subsampling.rawValue), Int32(quality), 0)
        }
        guard code == 0, let file = unsafe file else {
            throw .malformed("cannot be written as JPEG: \(unsafe String(library: tjGetErrorStr2(compressor)))")
        }
        return unsafe Array(UnsafeBufferPointer(start: file, count: Int(count)))
    }

    private struct Header {
        let width: Int
        let height: Int
        let subsampling: Int32
        let colours: UInt32

        /// The bytes of the coefficients of all channels, two bytes for each sample, with padding.
        var coefficients: Int {
            let channels = colours == TJCS_GRAY.rawValue ? 1 : 3
            // A sampling that TurboJPEG does not know counts as one without reduction.
            let halves = [Int32(TJSAMP_422.rawValue), Int32(TJSAMP_440.rawValue)].contains(subsampling)
            let isQuarter = [Int32(TJSAMP_420.rawValue), Int32(TJSAMP_411.rawValue)].contains(subsampling)
            let samples = (width + 32) * (height + 32)
            let colour = isQuarter ? samples / 4 : halves ? samples / 2 : samples
            return 2 * (samples + (channels - 1) * colour)
        }
    }

    private func header(_ file: [UInt8]) throws(DecodingRefusal) -> Header {
        var (width, height, subsampling, colours): (Int32, Int32, Int32, Int32) = (0, 0, 0, 0)
        let code = unsafe file.read { bytes, count in
            unsafe tjDecompressHeader3(decompressor, bytes, UInt(count), &width, &height, &subsampling, &colours)
        }
        guard code == 0 || isWarning, width > 0, height > 0, colours >= 0 else { throw damage() }
        let side = Int32(PictureLimits.side)
        guard width <= side, height <= side else { throw .tooLarge }
        return Header(
            width: Int(width), height: Int(height), subsampling: subsampling, colours: UInt32(colours))
    }

    private func decode(
        _ file: [UInt8], header: Header, size: (width: Int, height: Int), format: TJPF, each: Int,
        memory: MemoryShare, isStrict: Bool
    ) throws(DecodingRefusal) -> [UInt8] {
        let (width, height) = size
        guard let count = PictureLimits.bytes(width: width, height: height, each: each) else { throw .tooLarge }
        let scans = JPEGScans(file)
        guard scans.count <= 1 || scans.count <= JPEGScans.workLimit / (header.width * header.height) else {
            throw DecodingRefusal(
                .tooLarge, "has \(scans.count) scans of \(header.width)x\(header.height) pixels, which take too long")
        }
        try memory.require(count + (scans.keepsCoefficients ? header.coefficients : 0))
        return try unsafe [UInt8].filled(count) { target throws(DecodingRefusal) in
            let code = unsafe file.read { bytes, size in
                unsafe tjDecompress2(
                    decompressor, bytes, UInt(size), target, Int32(width), 0, Int32(height), Int32(format.rawValue),
                    Int32(TJFLAG_LIMITSCANS))
            }
            guard code == 0 || (isWarning && !isStrict && !isDamage) else { throw damage() }
        }
    }

    private var text: String { unsafe String(library: tjGetErrorStr2(decompressor)) }

    private var isWarning: Bool { unsafe tjGetErrorCode(decompressor) == Int32(TJERR_WARNING.rawValue) }

    /// Whether pixels are missing or wrong. Other warnings are common in photos of real cameras, for example a few
    /// bytes too many before a marker.
    private var isDamage: Bool {
        let text = text
        return text.hasPrefix("Premature end") || (text.hasPrefix("Corrupt") && !text.contains("extraneous"))
    }

    private func damage() -> DecodingRefusal {
        let text = text
        if text.hasPrefix("Insufficient memory") || text.contains("Memory allocation failure") { return .tooLarge }
        return .malformed("is a damaged JPEG: \(text)")
    }
}

/// Inserts an ICC profile into a JPEG. Without it, the colours of a photo from a phone would be wrong.
enum JPEGProfile {
    /// The number of profile bytes that fit in a segment, whose length field has two bytes.
    private static let pieceLimit = 65519

    /// Returns the file with the profile in APP2 segments after the first marker (ICC.1:2022, annex B.4).
    static func insert(_ profile: [UInt8], into jpeg: [UInt8]) -> [UInt8] {
        let pieces = (profile.count + pieceLimit - 1) / pieceLimit
        guard (1...255).contains(pieces), jpeg.starts(with: [0xff, 0xd8]) else { return jpeg }
        var file = Array(jpeg[..<2])
        for index in 0..<pieces {
            let piece = profile[(index * pieceLimit)..<min(profile.count, (index + 1) * pieceLimit)]
            let length = piece.count + 16
            file += [0xff, 0xe2, UInt8(length >> 8), UInt8(length & 0xff)]
            file += Array("ICC_PROFILE".utf8) + [0, UInt8(index + 1), UInt8(pieces)]
            file += piece
        }
        return file + jpeg[2...]
    }
}

/// What a JPEG's markers say about the work and the memory that decoding needs.
///
/// A file of some hundred bytes can make libjpeg pass over a huge picture hundreds of times, so this is known before it
/// is decoded.
struct JPEGScans {
    private(set) var count = 0
    /// Whether libjpeg keeps the coefficients of the whole picture: for a progressive picture or several scans.
    var keepsCoefficients: Bool { isProgressive || count > 1 }
    private var isProgressive = false

    /// The maximum number of pixels times scans, for pictures with several scans: two or three seconds of work.
    static let workLimit = 1 << 30

    /// Walks over the markers up to the end of the picture.
    init(_ file: [UInt8]) {
        var position = 2
        while let place = Self.marker(in: file, from: position) {
            let kind = file[place]
            position = place + 1
            // These stand alone: restarts, TEM, the start of a picture.
            if (0xd0...0xd8).contains(kind) || kind == 1 { continue }
            guard kind != 0xd9, position + 2 <= file.count else { return }
            // SOF2, SOF6, SOF10 and SOF14.
            if [0xc2, 0xc6, 0xca, 0xce].contains(kind) { isProgressive = true }
            if kind == 0xda { count += 1 }
            position += max(2, Int(file[position]) << 8 | Int(file[position + 1]))
        }
    }

    /// The position of the next byte after 0xff that is a marker: not 0, which stands for 0xff in a scan, and not
    /// another 0xff, which is a fill byte.
    private static func marker(in file: [UInt8], from start: Int) -> Int? {
        unsafe file.withUnsafeBytes { bytes in
            var position = start
            while position < bytes.count, let base = bytes.baseAddress,
                let found = unsafe memchr(base + position, 0xff, bytes.count - position)
            {
                position = unsafe base.distance(to: UnsafeRawPointer(found)) + 1
                guard position < bytes.count else { return nil }
                if unsafe bytes[position] != 0 && bytes[position] != 0xff { return position }
            }
            return nil
        }
    }
}
