import CZlib

/// Inflates one stream piece by piece, with zlib.
package final class Inflater {
    package enum Form: Int32, Sendable {
        /// A deflate stream (RFC 1951). zlib never sees the gzip header and trailer; the code that reads the format
        /// checks those.
        case raw = -1
        /// A zlib stream (RFC 1950) without a preset dictionary. It is finished only if its Adler-32 is right.
        case zlib = 0
        /// One gzip member (RFC 1952). It is finished only if its CRC-32 and its length are right.
        case gzip = 16
    }

    package enum Outcome: Equatable, Sendable {
        /// The input is used up, but the stream has not ended.
        case needsInput
        /// The output buffer is full; call again with the rest of the input.
        case outputFull
        /// A block ended, and another one must follow.
        case blockEnded
        /// The stream ended.
        case finished
        /// The bytes are not such a stream.
        case corrupt
    }

    private let stream: ZlibStream
    /// Z_BLOCK would also stop before the Adler-32.
    private let flush: Int32

    package init(_ form: Form = .raw) throws(NativeError) {
        flush = form == .raw ? Z_BLOCK : Z_NO_FLUSH
        stream = try unsafe ZlibStream(
            "inflateInit2", begin: { unsafe capture_inflate_init($0, form.rawValue) }, end: { unsafe inflateEnd($0) })
    }

    /// Inflates from `input` into `output` until one of them is used up, or a block or the stream ends.
    ///
    /// - Returns: Why it stopped, how many bytes of `input` were used and how many bytes of `output` were written.
    package func inflate(
        _ input: Span<UInt8>, into output: inout [UInt8]
    ) throws(NativeError) -> (outcome: Outcome, consumed: Int, produced: Int) {
        let (status, consumed, produced) = unsafe stream.step(input, into: &output) {
            unsafe CZlib.inflate($0, flush)
        }
        switch status {
        case Z_STREAM_END: return (.finished, consumed, produced)
        case Z_OK where stream.isBetweenBlocks: return (.blockEnded, consumed, produced)
        case Z_OK, Z_BUF_ERROR: return (produced == output.count ? .outputFull : .needsInput, consumed, produced)
        case Z_DATA_ERROR, Z_NEED_DICT: return (.corrupt, consumed, produced)
        case Z_MEM_ERROR: throw NativeError(origin: .zlib, call: "inflate", code: status, text: "out of memory")
        default: throw NativeError(origin: .zlib, call: "inflate", code: status, text: "unexpected status")
        }
    }
}

/// Owns a `z_stream` and calls zlib for one piece at a time.
@safe
struct ZlibStream: ~Copyable {
    // zlib keeps a pointer back to the stream, so the stream must not move: it is on the heap.
    private let stream: UnsafeMutablePointer<z_stream>
    private let end: (UnsafeMutablePointer<z_stream>) -> Int32

    /// - Parameters:
    ///   - call: zlib's name of `begin`, for errors.
    ///   - begin: Initialises the stream (inflateInit2, deflateInit2).
    ///   - end: Frees what `begin` allocated.
    init(
        _ call: String, begin: (UnsafeMutablePointer<z_stream>) -> Int32,
        end: @escaping (UnsafeMutablePointer<z_stream>) -> Int32
    ) throws(NativeError) {
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        unsafe self.end = end
        let status = unsafe begin(stream)
        guard status == Z_OK else {
            // `begin` failed, so `end` has nothing to free.
            unsafe stream.deallocate()
            throw NativeError(origin: .zlib, call: call, code: status, text: "out of memory")
        }
    }

    deinit {
        _ = unsafe end(stream)
        unsafe stream.deallocate()
    }

    /// Whether inflate stopped at the end of a block that is not the last one. In zlib.h, `inflate` sets 128 at the end
    /// of a block and 64 in the last block.
    var isBetweenBlocks: Bool { unsafe stream.pointee.data_type & 0xc0 == 128 }

    /// Calls zlib once.
    ///
    /// - Returns: The status, how many bytes of `input` were used and how many bytes of `output` were written.
    func step(
        _ input: Span<UInt8>, into output: inout [UInt8], _ call: (UnsafeMutablePointer<z_stream>) -> Int32
    ) -> (status: Int32, consumed: Int, produced: Int) {
        let status = unsafe input.withUnsafeBufferPointer { source in
            unsafe output.withUnsafeMutableBufferPointer { target in
                // zlib does not write through next_in; its type has no const for historical reasons.
                unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: source.baseAddress)
                unsafe stream.pointee.avail_in = UInt32(source.count)
                unsafe stream.pointee.next_out = target.baseAddress
                unsafe stream.pointee.avail_out = UInt32(target.count)
                return unsafe call(stream)
            }
        }
        let consumed = unsafe input.count - Int(stream.pointee.avail_in)
        let produced = unsafe output.count - Int(stream.pointee.avail_out)
        return (status, consumed, produced)
    }
}
