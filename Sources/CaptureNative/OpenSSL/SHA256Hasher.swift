import COpenSSL

/// Computes a hash piece by piece.
@safe
package class PieceHasher {
    private let context: OpaquePointer
    private let algorithm: OpaquePointer?

    fileprivate init(_ algorithm: OpaquePointer?) throws(NativeError) {
        guard let context = unsafe EVP_MD_CTX_new() else { throw OpenSSLErrorQueue.drain("EVP_MD_CTX_new") }
        unsafe self.context = context
        unsafe self.algorithm = algorithm
        try start()
    }

    deinit { unsafe EVP_MD_CTX_free(context) }

    package func update(_ bytes: Span<UInt8>) throws(NativeError) {
        let status = unsafe bytes.withUnsafeBytes { unsafe EVP_DigestUpdate(context, $0.baseAddress, $0.count) }
        try OpenSSLErrorQueue.require(status == 1, "EVP_DigestUpdate")
    }

    /// Returns the bytes of the digest and resets the hasher.
    package func finish() throws(NativeError) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var length: UInt32 = 0
        let status = unsafe EVP_DigestFinal_ex(context, &digest, &length)
        try OpenSSLErrorQueue.require(status == 1, "EVP_DigestFinal_ex")
        try start()
        return Array(digest.prefix(Int(length)))
    }

    private func start() throws(NativeError) {
        let status = unsafe EVP_DigestInit_ex(context, algorithm, nil)
        try OpenSSLErrorQueue.require(status == 1, "EVP_DigestInit_ex")
    }
}

/// Computes SHA-256 (FIPS 180-4).
@safe
package final class SHA256Hasher: PieceHasher {
    package init() throws(NativeError) { try unsafe super.init(Algorithm.sha256) }

    package static func hash(_ bytes: [UInt8]) throws(NativeError) -> [UInt8] {
        let hasher = try SHA256Hasher()
        try hasher.update(bytes.span)
        return try hasher.finish()
    }
}

/// Computes an MD5, for comparing with servers that report no better digest. It is never the only evidence.
@safe
package final class MD5Hasher: PieceHasher {
    package init() throws(NativeError) { try unsafe super.init(Algorithm.md5) }

    /// - Returns: The digest of the whole file, from its start.
    package static func hash(_ handle: FileHandle) throws(NativeError) -> [UInt8] {
        let hasher = try MD5Hasher()
        try handle.seekToStart()
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        while case let count = try handle.readSome(into: &buffer), count > 0 {
            try hasher.update(buffer.span.extracting(0..<count))
        }
        return try hasher.finish()
    }
}

/// Computes HMAC-SHA-256 (RFC 2104) in one call.
package enum HMACSHA256 {
    package static func code(of message: [UInt8], key: [UInt8]) throws(NativeError) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: 32)
        var length: UInt32 = 0
        let made = unsafe code.withUnsafeMutableBufferPointer { target in
            unsafe HMAC(
                Algorithm.sha256, key, Int32(key.count), message, message.count, target.baseAddress, &length) != nil
        }
        try OpenSSLErrorQueue.require(made && length == 32, "HMAC")
        return code
    }
}

/// Generates random bytes for keys and salts.
package enum RandomBytes {
    package static func make(_ count: Int) throws(NativeError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let status = unsafe bytes.withUnsafeMutableBufferPointer {
            unsafe RAND_priv_bytes($0.baseAddress, Int32($0.count))
        }
        try OpenSSLErrorQueue.require(status == 1, "RAND_priv_bytes")
        return bytes
    }
}
