import CLibDeflate

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
