import COpenSSL

/// Computes an MD5 piece by piece, for comparing with servers that report no better digest. It is never the only evidence.
@safe
package final class MD5Hasher {
    private let context: OpaquePointer

    package init() throws(NativeError) {
        guard let context = unsafe EVP_MD_CTX_new() else { throw OpenSSLErrorQueue.drain("EVP_MD_CTX_new") }
        unsafe self.context = context
        try OpenSSLErrorQueue.require(unsafe EVP_DigestInit_ex(context, EVP_md5(), nil) == 1, "EVP_DigestInit_ex")
    }

    deinit { unsafe EVP_MD_CTX_free(context) }

    package func update(_ bytes: Span<UInt8>) throws(NativeError) {
        let status = unsafe bytes.withUnsafeBytes { unsafe EVP_DigestUpdate(context, $0.baseAddress, $0.count) }
        try OpenSSLErrorQueue.require(status == 1, "EVP_DigestUpdate")
    }

    /// Returns the 16 bytes of the digest. It may be called once.
    package func finish() throws(NativeError) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 16)
        let status = unsafe EVP_DigestFinal_ex(context, &digest, nil)
        try OpenSSLErrorQueue.require(status == 1, "EVP_DigestFinal_ex")
        return digest
    }

    /// - Returns: The 16 bytes of the digest of the whole file, from its start.
    package static func hash(_ handle: FileHandle) throws(NativeError) -> [UInt8] {
        let hasher = try MD5Hasher()
        try handle.seekToStart()
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        while true {
            let count = try handle.readSome(into: &buffer)
            if count == 0 { return try hasher.finish() }
            try hasher.update(buffer.span.extracting(0..<count))
        }
    }
}
