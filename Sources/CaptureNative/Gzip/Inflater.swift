import CZlib

/// Inflates one raw deflate stream (RFC 1951) piece by piece, with zlib.
///
/// zlib never sees the gzip header and trailer; the code that reads the format checks those.
package final class Inflater {
    package enum Outcome: Equatable, Sendable {
        /// The input is used up, but the stream has not ended.
        case needsInput
        /// The output buffer is full; call again with the rest of the input.
        case outputFull
        /// A block ended, and another one must follow.
        case blockEnded
        /// The deflate stream ended.
        case finished
        /// The bytes are not a deflate stream.
        case corrupt
    }

    private let stream: ZlibStream

    package init() throws(NativeError) {
        stream = try unsafe ZlibStream(
            "inflateInit2", begin: { unsafe capture_inflate_init($0, -1) }, end: { unsafe inflateEnd($0) })
    }

    /// Inflates from `input` into `output` until one of them is used up, or a block or the stream ends.
    ///
    /// - Returns: Why it stopped, how many bytes of `input` were used and how many bytes of `output` were written.
    package func inflate(
        _ input: Span<UInt8>, into output: inout [UInt8]
    ) throws(NativeError) -> (outcome: Outcome, consumed: Int, produced: Int) {
        let (status, consumed, produced) = unsafe stream.step(input, into: &output) {
            unsafe CZlib.inflate($0, Z_BLOCK)
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
