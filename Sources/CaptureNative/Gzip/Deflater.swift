import CZlib

/// Makes one raw deflate stream (RFC 1951) piece by piece, with zlib.
@safe
package final class Deflater {
    // zlib keeps a pointer back to the stream, so it must stay where it is: on the heap.
    private let stream: UnsafeMutablePointer<z_stream>

    /// - Parameter level: zlib's, 1 to 9.
    package init(level: Int32) throws(NativeError) {
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        let status = unsafe capture_deflate_init_raw(stream, level)
        guard status == Z_OK else {
            unsafe stream.deallocate()
            throw NativeError(origin: .zlib, call: "deflateInit2", code: status, text: "out of memory")
        }
    }

    deinit {
        unsafe deflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// Takes from `input` and writes to `output` until one of them is used up or the stream ends.
    ///
    /// - Parameter isLast: whether the stream ends with `input`.
    /// - Returns: how many bytes of `input` were used and of `output` written, and whether there is nothing more to do:
    ///   all of `input` is taken and, for the last, the stream has ended.
    package func deflate(
        _ input: Span<UInt8>, isLast: Bool, into output: inout [UInt8]
    ) throws(NativeError) -> (consumed: Int, produced: Int, isDone: Bool) {
        let status = unsafe input.withUnsafeBufferPointer { source in
            unsafe output.withUnsafeMutableBufferPointer { target in
                // zlib does not write through next_in; its type has no const for historical reasons.
                unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: source.baseAddress)
                unsafe stream.pointee.avail_in = UInt32(source.count)
                unsafe stream.pointee.next_out = target.baseAddress
                unsafe stream.pointee.avail_out = UInt32(target.count)
                return unsafe CZlib.deflate(stream, isLast ? Z_FINISH : Z_NO_FLUSH)
            }
        }
        let consumed = unsafe input.count - Int(stream.pointee.avail_in)
        let produced = unsafe output.count - Int(stream.pointee.avail_out)
        switch status {
        case Z_STREAM_END: return (consumed, produced, true)
        // Z_BUF_ERROR: nothing to do, which happens when the output was full exactly at the end of the input.
        case Z_OK, Z_BUF_ERROR: return (consumed, produced, !isLast && produced < output.count)
        default: throw NativeError(origin: .zlib, call: "deflate", code: status, text: "unexpected status")
        }
    }
}
