import COpenSSL

/// Computes SHA-256 (FIPS 180-4) piece by piece.
@safe
package final class SHA256Hasher {
    private let context: OpaquePointer

    package init() throws(NativeError) {
        guard let context = unsafe EVP_MD_CTX_new() else { throw OpenSSLErrorQueue.drain("EVP_MD_CTX_new") }
        unsafe self.context = context
        try start()
    }

    deinit { unsafe EVP_MD_CTX_free(context) }

    package func update(_ bytes: Span<UInt8>) throws(NativeError) {
        let status = unsafe bytes.withUnsafeBytes { unsafe EVP_DigestUpdate(context, $0.baseAddress, $0.count) }
        try OpenSSLErrorQueue.require(status == 1, "EVP_DigestUpdate")
    }

    /// Returns the 32 bytes of the digest and resets the hasher.
    package func finish() throws(NativeError) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        var length: UInt32 = 0
        let status = unsafe EVP_DigestFinal_ex(context, &digest, &length)
        try OpenSSLErrorQueue.require(status == 1 && length == 32, "EVP_DigestFinal_ex")
        try start()
        return digest
    }

    package static func hash(_ bytes: [UInt8]) throws(NativeError) -> [UInt8] {
        let hasher = try SHA256Hasher()
        try hasher.update(bytes.span)
        return try hasher.finish()
    }

    private func start() throws(NativeError) {
        let status = unsafe EVP_DigestInit_ex(context, Algorithm.sha256, nil)
        try OpenSSLErrorQueue.require(status == 1, "EVP_DigestInit_ex")
    }
}

/// Computes HMAC-SHA-256 (RFC 2104) in one call.
package enum HMACSHA256 {
    package static func code(of message: [UInt8], key: [UInt8]) throws(NativeError) -> [UInt8] {
        var code = [UInt8](repeating: 0, count: 32)
        var length: UInt32 = 0
        let made = unsafe HMAC(Algorithm.sha256, key, Int32(key.count), message, message.count, &code, &length)
        try OpenSSLErrorQueue.require(unsafe made != nil && length == 32, "HMAC")
        return code
    }
}

/// Generates random bytes for keys and salts.
package enum RandomBytes {
    package static func make(_ count: Int) throws(NativeError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        try OpenSSLErrorQueue.require(unsafe RAND_priv_bytes(&bytes, Int32(count)) == 1, "RAND_priv_bytes")
        return bytes
    }
}

/// The MD5 of a file, for comparing with servers that report no better digest. It is never the only evidence.
package enum MD5 {
    /// - Returns: The 16 bytes of the digest of the whole file, from its start.
    package static func hash(_ handle: FileHandle) throws(NativeError) -> [UInt8] {
        guard let context = unsafe EVP_MD_CTX_new() else { throw OpenSSLErrorQueue.drain("EVP_MD_CTX_new") }
        defer { unsafe EVP_MD_CTX_free(context) }
        try OpenSSLErrorQueue.require(unsafe EVP_DigestInit_ex(context, EVP_md5(), nil) == 1, "EVP_DigestInit_ex")
        try handle.seekToStart()
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        while case let count = try handle.readSome(into: &buffer), count > 0 {
            try OpenSSLErrorQueue.require(unsafe EVP_DigestUpdate(context, buffer, count) == 1, "EVP_DigestUpdate")
        }
        var digest = [UInt8](repeating: 0, count: 16)
        try OpenSSLErrorQueue.require(unsafe EVP_DigestFinal_ex(context, &digest, nil) == 1, "EVP_DigestFinal_ex")
        return digest
    }
}

/// OpenSSL's Base64, which is lenient when it decodes: the caller encodes the result again and compares.
package enum Base64Block {
    package static func encode(_ bytes: [UInt8]) -> [UInt8] {
        // OpenSSL adds a NUL.
        var text = [UInt8](repeating: 0, count: (bytes.count + 2) / 3 * 4 + 1)
        let count = unsafe EVP_EncodeBlock(&text, bytes, Int32(bytes.count))
        return Array(text.prefix(Int(count)))
    }

    /// - Returns: Empty for a text that is not Base64.
    package static func decode(_ text: [UInt8]) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: text.count / 4 * 3 + 3)
        let count = Int(unsafe EVP_DecodeBlock(&bytes, text, Int32(text.count)))
        // It counts the bytes that the padding stands for.
        let padding = text.suffix(2).count { $0 == UInt8(ascii: "=") }
        return Array(bytes.prefix(max(0, count - padding)))
    }
}
