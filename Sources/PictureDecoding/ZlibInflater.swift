import CZlib
import PictureMessages

/// Inflates one stream piece by piece, with zlib, which checks the CRC-32 and the length of gzip, and the Adler-32 of
/// zlib.
@safe
final class ZlibInflater {
    enum Wrapper: Int32 { case none = -1, zlib = 0, gzip = 16 }

    // zlib keeps a pointer back to the stream, so the stream must not move: it is on the heap.
    private let stream: UnsafeMutablePointer<z_stream>
    private let failure: String

    /// - Parameter failure: How the text of a refusal begins; what is wrong with the stream follows it.
    init(_ wrapper: Wrapper, failure: String) throws(DecodingRefusal) {
        self.failure = failure
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        guard unsafe capture_inflate_init(stream, wrapper.rawValue) == Z_OK else {
            unsafe stream.deallocate()
            throw .tooLarge
        }
    }

    deinit {
        _ = unsafe inflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// Begins another stream.
    func reset() { _ = unsafe inflateReset(stream) }

    /// Inflates from `input` into `output` until the stream ends or one of them is used up.
    ///
    /// - Returns: Whether the stream ended, and its check is right; the number of bytes used of `input` and written to
    ///   `output`.
    func inflate(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(DecodingRefusal) -> (isFinished: Bool, consumed: Int, produced: Int) {
        // zlib counts in 32 bits, and does not write through next_in.
        let (given, room) = (min(input.count, 1 << 30), min(output.count, 1 << 30))
        let source = unsafe input.baseAddress?.assumingMemoryBound(to: UInt8.self)
        unsafe stream.pointee.next_in = unsafe UnsafeMutablePointer(mutating: source)
        unsafe stream.pointee.avail_in = UInt32(given)
        unsafe stream.pointee.next_out = unsafe output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        unsafe stream.pointee.avail_out = UInt32(room)
        let status = unsafe CZlib.inflate(stream, Z_NO_FLUSH)
        let (consumed, produced) = unsafe (given - Int(stream.pointee.avail_in), room - Int(stream.pointee.avail_out))
        switch status {
        // Z_BUF_ERROR: no progress was possible.
        case Z_STREAM_END, Z_OK, Z_BUF_ERROR: return (status == Z_STREAM_END, consumed, produced)
        case Z_MEM_ERROR: throw .tooLarge
        default:
            let text = unsafe String(library: stream.pointee.msg)
            throw .malformed(failure + (text.isEmpty ? "invalid data" : text))
        }
    }
}
