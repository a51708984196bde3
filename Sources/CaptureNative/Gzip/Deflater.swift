import CZlib

/// Produces one raw deflate stream (RFC 1951) piece by piece, with zlib.
package final class Deflater {
    private let stream: ZlibStream

    /// - Parameter level: zlib's compression level, 1 to 9.
    package init(level: Int32) throws(NativeError) {
        stream = try unsafe ZlibStream(
            "deflateInit2", begin: { unsafe capture_deflate_init_raw($0, level) }, end: { unsafe deflateEnd($0) })
    }

    /// Compresses from `input` into `output` until one of them is used up or the stream ends.
    ///
    /// - Parameter isLast: Whether the stream ends with `input`.
    /// - Returns: The number of bytes used of `input` and written to `output`, and whether the work is done: all of
    ///   `input` is taken and, if it was the last, the stream has ended.
    package func deflate(
        _ input: Span<UInt8>, isLast: Bool, into output: inout [UInt8]
    ) throws(NativeError) -> (consumed: Int, produced: Int, isDone: Bool) {
        let (status, consumed, produced) = unsafe stream.step(input, into: &output) {
            unsafe CZlib.deflate($0, isLast ? Z_FINISH : Z_NO_FLUSH)
        }
        switch status {
        case Z_STREAM_END: return (consumed, produced, true)
        // Z_BUF_ERROR: no progress was possible. It happens when the output became full exactly at the end of the
        // input.
        case Z_OK, Z_BUF_ERROR: return (consumed, produced, !isLast && produced < output.count)
        default: throw NativeError(origin: .zlib, call: "deflate", code: status, text: "unexpected status")
        }
    }
}
