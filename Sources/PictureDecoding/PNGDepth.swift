import CSpng
import PictureMessages

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
        DecodingRefusal(
            .unsupported, "is a PNG of \(kind(header)), expected one grey channel of 8 or 16 bits, or equal ones")
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
                throw DecodingRefusal(
                    .unsupported,
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
