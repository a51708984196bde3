import CZlib

/// Inflates one raw deflate stream (RFC 1951) piece by piece, with zlib.
///
/// The gzip header and trailer are the format's business and are judged there; zlib never sees them.
@safe
package final class Inflater {
    package enum Outcome: Equatable, Sendable {
        /// The input is used up; more is wanted.
        case needsInput
        /// The output buffer is full; call again with the rest of the input.
        case outputFull
        /// A block ended, and another one must follow.
        case blockEnded
        /// The deflate stream ended.
        case finished
        /// The bytes are no deflate stream.
        case corrupt
    }

    // zlib keeps a pointer back to the stream, so it must stay where it is: on the heap.
    private let stream: UnsafeMutablePointer<z_stream>

    package init() throws(NativeError) {
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        let status = unsafe capture_inflate_init_raw(stream)
        guard status == Z_OK else {
            unsafe stream.deallocate()
            throw NativeError(origin: .zlib, call: "inflateInit2", code: status, text: "out of memory")
        }
    }

    deinit {
        unsafe inflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// Inflates from `input` into `output` until one of them is used up, or a block or the stream ends.
    ///
    /// - Returns: what stopped it, how many bytes of `input` were used and how many of `output` were written.
    package func inflate(
        _ input: Span<UInt8>, into output: inout [UInt8]
    ) throws(NativeError) -> (outcome: Outcome, consumed: Int, produced: Int) {
        let status = unsafe input.withUnsafeBufferPointer { source in
            unsafe output.withUnsafeMutableBufferPointer { target in
                // zlib does not write through next_in; its type has no const for historical reasons.
                unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: source.baseAddress)
                unsafe stream.pointee.avail_in = UInt32(source.count)
                unsafe stream.pointee.next_out = target.baseAddress
                unsafe stream.pointee.avail_out = UInt32(target.count)
                return unsafe CZlib.inflate(stream, Z_BLOCK)
            }
        }
        let consumed = unsafe input.count - Int(stream.pointee.avail_in)
        let produced = unsafe output.count - Int(stream.pointee.avail_out)
        switch status {
        case Z_STREAM_END: return (.finished, consumed, produced)
        // zlib.h, inflate: 128 at the end of a block, 64 where it was the last one.
        case Z_OK where unsafe stream.pointee.data_type & 0xc0 == 128: return (.blockEnded, consumed, produced)
        case Z_OK, Z_BUF_ERROR: return (produced == output.count ? .outputFull : .needsInput, consumed, produced)
        case Z_DATA_ERROR, Z_NEED_DICT: return (.corrupt, consumed, produced)
        case Z_MEM_ERROR: throw NativeError(origin: .zlib, call: "inflate", code: status, text: "out of memory")
        default: throw NativeError(origin: .zlib, call: "inflate", code: status, text: "unexpected status")
        }
    }
}
