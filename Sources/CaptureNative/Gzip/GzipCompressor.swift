import CLibDeflate
import CZlib

/// Produces one gzip member with libdeflate. Its bytes depend on the release of the library, but nothing that is signed
/// depends on them.
package enum GzipCompressor {
    /// - Parameter level: libdeflate's level, 1 to 12.
    /// - Throws: `NativeError` if memory runs out.
    package static func compress(_ bytes: Span<UInt8>, level: Int32) throws(NativeError) -> [UInt8] {
        guard let compressor = unsafe libdeflate_alloc_compressor(level) else {
            throw NativeError(origin: .libdeflate, call: "libdeflate_alloc_compressor", code: 0, text: "out of memory")
        }
        defer { unsafe libdeflate_free_compressor(compressor) }
        let bound = unsafe libdeflate_gzip_compress_bound(compressor, bytes.count)
        let member = unsafe bytes.withUnsafeBytes { source in
            unsafe [UInt8](unsafeUninitializedCapacity: bound) { target, count in
                count = unsafe libdeflate_gzip_compress(
                    compressor, source.baseAddress, source.count, target.baseAddress, target.count)
            }
        }
        guard !member.isEmpty else {
            throw NativeError(origin: .libdeflate, call: "libdeflate_gzip_compress", code: 0, text: "no room")
        }
        return member
    }
}

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

/// The CRC-32 of gzip (RFC 1952 section 8), computed piece by piece.
package struct CRC32: Sendable {
    package private(set) var value: UInt32 = 0

    package init() {}

    package mutating func update(_ bytes: Span<UInt8>) {
        value = unsafe bytes.withUnsafeBytes { unsafe libdeflate_crc32(value, $0.baseAddress, $0.count) }
    }
}
