import CSpng
import PictureMessages

/// Decodes and encodes PNG, with libspng.
enum PNGDecoder {
    static func pixels(_ file: [UInt8], _ memory: MemoryShare) throws(DecodingRefusal) -> PixelImage {
        try unsafe file.read { bytes, count throws(DecodingRefusal) in
            let context = try unsafe PNGContext(bytes, count)
            return try PixelImage(
                Int(context.header.width), Int(context.header.height),
                context.decode(SPNG_FMT_RGB8, each: 3, memory))
        }
    }

    static func kind(_ header: spng_ihdr) -> String {
        let colour =
            switch UInt32(header.color_type) {
            case SPNG_COLOR_TYPE_GRAYSCALE.rawValue: "grey"
            case SPNG_COLOR_TYPE_TRUECOLOR.rawValue: "RGB"
            case SPNG_COLOR_TYPE_INDEXED.rawValue: "a palette"
            case SPNG_COLOR_TYPE_GRAYSCALE_ALPHA.rawValue: "grey with transparency"
            default: "RGB with transparency"
            }
        return "\(header.bit_depth)-bit \(colour)"
    }

    static func encode(width: Int, height: Int, rgb: [UInt8]) throws(DecodingRefusal) -> [UInt8] {
        guard let context = unsafe spng_ctx_new(Int32(SPNG_CTX_ENCODER.rawValue)) else { throw .tooLarge }
        defer { unsafe spng_ctx_free(context) }
        var header = spng_ihdr()
        header.width = UInt32(width)
        header.height = UInt32(height)
        header.bit_depth = 8
        header.color_type = UInt8(SPNG_COLOR_TYPE_TRUECOLOR.rawValue)
        unsafe spng_set_option(context, SPNG_ENCODE_TO_BUFFER, 1)
        unsafe spng_set_ihdr(context, &header)
        let code = unsafe rgb.read { pixels, count in
            unsafe spng_encode_image(
                context, pixels, count, Int32(SPNG_FMT_PNG.rawValue), Int32(SPNG_ENCODE_FINALIZE.rawValue))
        }
        var count = 0
        var result: Int32 = 0
        guard code == 0, let bytes = unsafe spng_get_png_buffer(context, &count, &result) else {
            throw .malformed("cannot be written as PNG: \(unsafe String(library: spng_strerror(code)))")
        }
        defer { unsafe free(bytes) }
        return unsafe Array(UnsafeRawBufferPointer(start: bytes, count: count))
    }
}

/// A file that libspng has opened and whose header was checked.
@safe
final class PNGContext {
    private(set) var header = spng_ihdr()
    private let context: OpaquePointer

    /// The bytes must live as long as the context.
    init(_ bytes: UnsafePointer<UInt8>, _ count: Int) throws(DecodingRefusal) {
        guard let context = unsafe spng_ctx_new(0) else { throw .tooLarge }
        unsafe self.context = unsafe context
        // Our own code refuses sides above the limits, so libspng's limit is the largest possible.
        unsafe spng_set_chunk_limits(context, 1 << 20, 1 << 22)
        try Self.check(unsafe spng_set_png_buffer(context, bytes, count))
        try Self.check(unsafe spng_get_ihdr(context, &header))
    }

    deinit { unsafe spng_ctx_free(context) }

    /// The number of the colour that is transparent (chunk tRNS); nil if there is none, or it is not grey. Only its low
    /// bits count (PNG section 11.3.2.1).
    var transparentNumber: Int? {
        var found = spng_trns()
        guard unsafe spng_get_trns(context, &found) == 0 else { return nil }
        let isGrey = header.color_type == UInt8(SPNG_COLOR_TYPE_GRAYSCALE.rawValue)
        let numbers = Set(isGrey ? [found.gray] : [found.red, found.green, found.blue])
        return numbers.count == 1 ? numbers.first.map { Int($0) & (1 << Int(header.bit_depth) - 1) } : nil
    }

    /// The number of bits that the writer had (chunk sBIT): the lowest of all colours; 0 if the file does not say it.
    var significantBits: Int {
        var found = spng_sbit()
        guard unsafe spng_get_sbit(context, &found) == 0 else { return 0 }
        let isColour = header.color_type & UInt8(SPNG_COLOR_TYPE_TRUECOLOR.rawValue) != 0
        return Int(isColour ? min(found.red_bits, found.green_bits, found.blue_bits) : found.grayscale_bits)
    }

    func decode(_ format: spng_format, each: Int, _ memory: MemoryShare) throws(DecodingRefusal) -> [UInt8] {
        guard let count = PictureLimits.bytes(width: Int(header.width), height: Int(header.height), each: each) else {
            throw .tooLarge
        }
        try memory.require(count)
        var expected = 0
        try Self.check(unsafe spng_decoded_image_size(context, Int32(format.rawValue), &expected))
        guard expected == count else { throw .malformed("is a PNG whose rows do not match its size") }
        let pixels = try unsafe [UInt8].filled(count) { target throws(DecodingRefusal) in
            try Self.check(unsafe spng_decode_image(context, target, count, Int32(format.rawValue), 0))
        }
        // The chunks after the picture, up to the end mark, show that the file is complete.
        try Self.check(unsafe spng_decode_chunks(context))
        return pixels
    }

    private static func check(_ code: Int32) throws(DecodingRefusal) {
        guard code != 0 else { return }
        let text = unsafe String(library: spng_strerror(code))
        let isMemory = code == SPNG_EMEM.rawValue
        throw DecodingRefusal(isMemory ? .tooLarge : .malformed, "is a damaged PNG: \(text)")
    }
}

/// Decodes a PNG of depth samples: 8 or 16 bits, grey or with equal colours, with or without transparency.
extension PNGDecoder {
    static func samples(_ file: [UInt8], _ memory: MemoryShare) throws(DecodingRefusal) -> Samples {
        try unsafe file.read { bytes, count throws(DecodingRefusal) in
            let context = try unsafe PNGContext(bytes, count)
            let header = context.header
            guard let channels = [0: 1, 2: 3, 4: 2, 6: 4][Int(header.color_type)], header.bit_depth >= 8 else {
                throw unsupported(header)
            }
            let type = header.bit_depth == 16 ? SampleType.uint16 : .uint8
            let sides = (width: Int(header.width), height: Int(header.height))
            let raw = try context.decode(SPNG_FMT_PNG, each: type.byteCount * channels, memory)
            if channels > 1 { try memory.require(raw.count + raw.count / channels) }
            let layout = Channels(
                pixels: sides.width * sides.height, count: channels, hasAlpha: channels % 2 == 0,
                each: type.byteCount, isPlanar: false)
            guard let folded = layout.folded(raw) else { throw unsupported(header) }
            var samples = Samples(width: sides.width, height: sides.height, type: type, bytes: folded)
            let transparent = layout.transparent(raw)
            for pixel in transparent {
                for index in 0..<type.byteCount { samples.bytes[pixel * type.byteCount + index] = 0 }
            }
            samples.note(transparent.count, "that its alpha channel makes transparent")
            if let number = context.transparentNumber {
                samples.remove(Double(number), "of \(number), which its tRNS makes transparent")
            }
            try takeSignificantBits(context.significantBits, of: Int(header.bit_depth), &samples)
            return samples
        }
    }

    private static func unsupported(_ header: spng_ihdr) -> DecodingRefusal {
        DecodingRefusal.unsupported(
            "is a PNG of \(kind(header)), expected one grey channel of 8 or 16 bits, or equal ones")
    }

    /// A writer stretches samples of fewer bits to all bits of a PNG, and names their number in sBIT. The original is the
    /// sample shifted right (PNG sections 11.3.2.7 and 13.12).
    private static func takeSignificantBits(
        _ bits: Int, of depth: Int, _ samples: inout Samples
    ) throws(DecodingRefusal) {
        guard (1..<depth).contains(bits) else { return }
        let (shift, top, most) = (depth - bits, 1 << bits - 1, 1 << depth - 1)
        // The machines with this sandbox are little-endian. A code is stretched by a factor, by repeating its bits, or by zeros.
        var couldBe = (factor: true, repeated: true, zeros: true)
        let each = samples.type.byteCount
        for offset in stride(from: 0, to: samples.bytes.count, by: each) {
            let sample = samples.bytes.number(at: offset, bytes: each)
            let code = sample >> shift
            let repeated = stride(from: shift, to: -bits, by: -bits).reduce(0) {
                $0 | ($1 < 0 ? code >> -$1 : code << $1)
            }
            couldBe.repeated = couldBe.repeated && sample == repeated
            couldBe.zeros = couldBe.zeros && sample == code << shift
            couldBe.factor =
                couldBe.factor && [code * most / top, (2 * code * most + top) / (2 * top)].contains(sample)
            guard couldBe.factor || couldBe.repeated || couldBe.zeros else {
                throw .unsupported(
                    "says that \(bits) of its \(depth) bits are significant (sBIT), but \(sample) is not such a number")
            }
            for index in 0..<each { samples.bytes[offset + index] = UInt8(truncatingIfNeeded: code >> (8 * index)) }
        }
        samples.bits = UInt8(bits)
        samples.notes.append(
            "says that \(bits) of its \(depth) bits are significant (sBIT), so its samples are shifted right by \(shift)"
        )
    }
}
