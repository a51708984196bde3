import CZlib

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
