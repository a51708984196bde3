import COpenSSL

/// OpenSSL's reader and writer of bytes in memory.
@safe
final class MemoryBIO {
    private let pointer: OpaquePointer

    /// An empty one, to write to.
    init() throws(NativeError) {
        guard let bio = unsafe BIO_new(BIO_s_mem()) else { throw OpenSSLErrorQueue.drain("BIO_new") }
        unsafe pointer = bio
    }

    /// One to read `bytes` from.
    convenience init(_ bytes: [UInt8]) throws(NativeError) {
        try self.init()
        let count = unsafe BIO_write(pointer, bytes, Int32(clamping: bytes.count))
        try OpenSSLErrorQueue.require(Int(count) == bytes.count, "BIO_write")
    }

    deinit { unsafe BIO_free(pointer) }

    /// Lends the BIO, which lives until `body` has returned.
    func lend<Value>(_ body: (OpaquePointer) -> Value) -> Value {
        withExtendedLifetime(self) { unsafe body(pointer) }
    }

    var contents: [UInt8] {
        var bytes: UnsafePointer<UInt8>?
        let count = unsafe capture_bio_contents(pointer, &bytes)
        guard count > 0, let bytes = unsafe bytes else { return [] }
        return unsafe [UInt8](UnsafeBufferPointer(start: bytes, count: count))
    }
}
