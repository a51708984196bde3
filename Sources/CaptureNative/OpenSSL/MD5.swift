import COpenSSL

/// The MD5 of a file, for comparing with servers that report no better digest. It is never the only evidence.
package enum MD5 {
    /// - Returns: The 16 bytes of the digest of the whole file, from its start.
    package static func hash(_ handle: FileHandle) throws(NativeError) -> [UInt8] {
        guard let context = unsafe EVP_MD_CTX_new() else { throw OpenSSLErrorQueue.drain("EVP_MD_CTX_new") }
        defer { unsafe EVP_MD_CTX_free(context) }
        try OpenSSLErrorQueue.require(unsafe EVP_DigestInit_ex(context, EVP_md5(), nil) == 1, "EVP_DigestInit_ex")
        try handle.seekToStart()
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        while true {
            let count = try handle.readSome(into: &buffer)
            if count == 0 { break }
            let status = unsafe EVP_DigestUpdate(context, buffer, count)
            try OpenSSLErrorQueue.require(status == 1, "EVP_DigestUpdate")
        }
        var digest = [UInt8](repeating: 0, count: 16)
        let status = unsafe EVP_DigestFinal_ex(context, &digest, nil)
        try OpenSSLErrorQueue.require(status == 1, "EVP_DigestFinal_ex")
        return digest
    }
}
