package import CaptureBundle
import CaptureNative

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
    package static func decode(_ bytes: [UInt8], size: DepthSize) throws(DepthFormatFailure) -> SampleGrid {
        let wrapper = Wrapper(bytes)
        let start = wrapper == .gzip ? try endOfGzipHeader(bytes) : 0
        let (floats, end) = try inflate(bytes, from: start, wrapper, size)
        try check(bytes[end...], wrapper, floats)
        guard floats.count == size.byteCount else {
            throw DepthFormatFailure(
                "inflates to \(floats.count) bytes (\(wrapper.rawValue)), expected \(size.byteCount) for \(size)")
        }
        return try RawFloats.decode(floats, size: size)
    }

    /// The length of the header with its optional fields: extra field, name, comment and header checksum.
    private static func endOfGzipHeader(_ bytes: [UInt8]) throws(DepthFormatFailure) -> Int {
        let cutOff = DepthFormatFailure("is gzip data that is cut off in its header")
        guard bytes.count >= 10 else { throw cutOff }
        guard bytes[2] == 8, bytes[3] & 0xe0 == 0 else {
            throw DepthFormatFailure("is gzip data with an unknown method or flag")
        }
        var position = 10
        if bytes[3] & 4 != 0 {
            guard position + 2 <= bytes.count else { throw cutOff }
            position += 2 + (Int(bytes[position]) | Int(bytes[position + 1]) << 8)
        }
        for flag: UInt8 in [8, 16] where bytes[3] & flag != 0 {
            guard position < bytes.count, let end = bytes[position...].firstIndex(of: 0) else { throw cutOff }
            position = end + 1
        }
        if bytes[3] & 2 != 0 { position += 2 }
        guard position <= bytes.count else { throw cutOff }
        return position
    }

    /// Inflates at most one byte more than the size needs.
    ///
    /// - Returns: the bytes, and the offset at which the stream ends.
    private static func inflate(
        _ bytes: [UInt8], from start: Int, _ wrapper: Wrapper, _ size: DepthSize
    ) throws(DepthFormatFailure) -> ([UInt8], Int) {
        var floats: [UInt8] = []
        var output = [UInt8](repeating: 0, count: min(size.byteCount + 1, 1 << 16))
        var position = start
        do {
            let inflater = try Inflater(wrapper == .zlib ? .zlib : .raw)
            while true {
                let rest = bytes.span.extracting(droppingFirst: position)
                let step = try inflater.inflate(rest, into: &output)
                position += step.consumed
                floats += output[..<step.produced]
                if floats.count > size.byteCount {
                    throw DepthFormatFailure("inflates to more than \(size.byteCount) bytes, which \(size) has")
                }
                switch step.outcome {
                case .finished: return (floats, position)
                // zlib also stops before the last bytes of the stream, without having used all of its input.
                case .outputFull, .blockEnded: continue
                case .needsInput where step.consumed > 0 || step.produced > 0: continue
                case .needsInput: throw DepthFormatFailure("is \(wrapper.words) data that is cut off")
                case .corrupt where wrapper == .zlib && floats.count == size.byteCount: throw wrongChecksum(wrapper)
                case .corrupt: throw DepthFormatFailure("is not valid \(wrapper.words) data")
                }
            }
        } catch let failure as DepthFormatFailure {
            throw failure
        } catch {
            throw DepthFormatFailure("cannot be inflated: \(error)")
        }
    }

    /// Checks what follows the stream: for gzip the checksum and the length (zlib checks its own), else nothing.
    private static func check(
        _ trailer: ArraySlice<UInt8>, _ wrapper: Wrapper, _ floats: [UInt8]
    ) throws(DepthFormatFailure) {
        var expected: [UInt8] = []
        if wrapper == .gzip {
            var crc = CRC32()
            crc.update(floats.span)
            for number in [crc.value, UInt32(truncatingIfNeeded: floats.count)] {
                expected += stride(from: 0, to: 32, by: 8).map { UInt8(truncatingIfNeeded: number >> UInt32($0)) }
            }
        }
        guard trailer.count >= expected.count else {
            throw DepthFormatFailure("is \(wrapper.words) data that is cut off")
        }
        guard trailer.starts(with: expected) else { throw wrongChecksum(wrapper) }
        guard trailer.count == expected.count else {
            let more = trailer.count - expected.count
            throw DepthFormatFailure("has \(more) bytes after the end of its \(wrapper.words) data")
        }
    }

    private static func wrongChecksum(_ wrapper: Wrapper) -> DepthFormatFailure {
        DepthFormatFailure("is damaged \(wrapper.words) data: its checksum is wrong")
    }
}

extension CompressedFloats.Wrapper {
    /// The name of the format in a message.
    fileprivate var words: String { self == .deflate ? "raw deflate" : rawValue }
}
