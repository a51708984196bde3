import COpenSSL

/// OpenSSL's queue of failures, one for each thread. It is drained after each failure, so that a later call does not
/// find old entries.
enum OpenSSLErrorQueue {
    /// Empties the queue and returns its newest entry as an error.
    static func drain(_ call: String) -> NativeError {
        var newest: UInt = 0
        while case let code = ERR_get_error(), code != 0 { newest = code }
        let text = unsafe ERR_reason_error_string(newest).map { unsafe String(cString: $0) } ?? "no reason given"
        return NativeError(origin: .openSSL, call: call, code: capture_error_reason(newest), text: text)
    }

    /// Empties the queue after a call that refused its input. Throws if the call failed because memory ran out, since
    /// then the input was not refused.
    static func drainRefusal(_ call: String) throws(NativeError) {
        while case let code = ERR_get_error(), code != 0 {
            guard capture_error_reason(code) != capture_error_out_of_memory else {
                _ = drain(call)
                throw NativeError(
                    origin: .openSSL, call: call, code: capture_error_out_of_memory, text: "out of memory")
            }
        }
    }

    /// Empties the queue and returns its entries, the oldest first. The details of an entry can contain the PIN of a key's
    /// URI.
    static func drainEntries() -> [(reason: Int32, details: String)] {
        var entries: [(reason: Int32, details: String)] = []
        var details: UnsafePointer<CChar>?
        while case let code = unsafe ERR_get_error_all(nil, nil, nil, &details, nil), code != 0 {
            unsafe entries.append((capture_error_reason(code), details.map { unsafe String(cString: $0) } ?? ""))
        }
        return entries
    }

    static func require(_ condition: Bool, _ call: String) throws(NativeError) {
        if !condition { throw drain(call) }
    }
}

/// Reads DER with one of OpenSSL's `d2i` functions, which gets a pointer to the bytes and their number.
func decodeDER<Value>(_ bytes: [UInt8], _ call: (UnsafeMutablePointer<UnsafePointer<UInt8>?>, Int) -> Value?) -> Value?
{
    unsafe bytes.withUnsafeBufferPointer { source in
        var cursor = source.baseAddress
        return unsafe call(&cursor, source.count)
    }
}

/// Writes DER with one of OpenSSL's `i2d` functions, which gets the place for its own buffer; nil if it fails.
func encodeDER(_ call: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>) -> Int32) -> [UInt8]? {
    var buffer: UnsafeMutablePointer<UInt8>?
    let count = unsafe call(&buffer)
    guard count > 0, let bytes = unsafe buffer else { return nil }
    // It may be a private key.
    defer { unsafe CRYPTO_clear_free(bytes, Int(count), nil, 0) }
    return unsafe [UInt8](UnsafeBufferPointer(start: bytes, count: Int(count)))
}

/// The contents of a string of ASN.1; none without a string.
func stringBytes(_ string: UnsafePointer<ASN1_STRING>?) -> [UInt8] {
    guard let string = unsafe string, let data = unsafe ASN1_STRING_get0_data(string) else { return [] }
    return unsafe [UInt8](UnsafeBufferPointer(start: data, count: Int(ASN1_STRING_length(string))))
}

/// OpenSSL's algorithms, each fetched once for the process: looking one up by name takes longer than using it for a short
/// message. nil if memory ran out.
@safe
enum Algorithm {
    nonisolated(unsafe) static let sha256 = unsafe EVP_MD_fetch(nil, "SHA256", nil)
    nonisolated(unsafe) static let poly1305 = unsafe EVP_MAC_fetch(nil, "POLY1305", nil)
}

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
    func with<Value>(_ body: (OpaquePointer) -> Value) -> Value {
        withExtendedLifetime(self) { unsafe body(pointer) }
    }

    /// Passes the BIO to one of OpenSSL's functions that read PEM, with an empty passphrase, which keeps OpenSSL from
    /// asking for one on the terminal.
    func read(_ call: (OpaquePointer, UnsafeMutableRawPointer) -> OpaquePointer?) -> OpaquePointer? {
        unsafe "".withCString { empty in unsafe with { unsafe call($0, UnsafeMutableRawPointer(mutating: empty)) } }
    }

    var contents: [UInt8] {
        var bytes: UnsafePointer<UInt8>?
        let count = unsafe capture_bio_contents(pointer, &bytes)
        guard count > 0, let bytes = unsafe bytes else { return [] }
        return unsafe [UInt8](UnsafeBufferPointer(start: bytes, count: count))
    }
}
