import COpenSSL

/// OpenSSL's buffer in memory, for reading and writing.
@safe
final class MemoryBIO {
    private let pointer: OpaquePointer

    /// Creates an empty buffer to write to.
    init() throws(NativeError) {
        guard let bio = unsafe BIO_new(BIO_s_mem()) else { throw OpenSSLErrorQueue.drain("BIO_new") }
        unsafe pointer = bio
    }

    /// Creates a buffer that holds `bytes`, to read from.
    convenience init(_ bytes: [UInt8]) throws(NativeError) {
        try self.init()
        let count = unsafe BIO_write(pointer, bytes, Int32(clamping: bytes.count))
        try OpenSSLErrorQueue.require(Int(count) == bytes.count, "BIO_write")
    }

    deinit { unsafe BIO_free(pointer) }

    /// Passes the BIO to `body`; it stays valid until `body` has returned.
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
