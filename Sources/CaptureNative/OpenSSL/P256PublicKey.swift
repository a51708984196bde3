import COpenSSL
import Synchronization

/// A public key on P-256, ready to verify signatures.
///
/// It is `@unchecked Sendable` because C pointers are never `Sendable`. Nothing changes the EVP_PKEY after `init`, each
/// operation has its own context, and openssl-threads(7) allows threads to share an object that no thread changes.
@safe
package final class P256PublicKey: @unchecked Sendable {
    /// The public point in 65 bytes: 0x04, x, y (SEC 1 section 2.3.3).
    package let point: [UInt8]
    private let key: OpaquePointer

    /// Creates a key from its point; nil unless the bytes are 65, begin with 0x04 and encode a point on the curve.
    ///
    /// - Throws: `NativeError` if OpenSSL fails for another reason, so that nothing is known about the point.
    package init?(point: [UInt8]) throws(NativeError) {
        guard point.count == 65, point[0] == 0x04 else { return nil }
        guard let key = unsafe Self.load(point) else {
            try OpenSSLErrorQueue.drainRefusal("EVP_PKEY_fromdata")
            // Loading a point that is certainly valid shows whether OpenSSL refused this point or cannot load any.
            guard let known = unsafe Self.load(Self.generator) else {
                throw OpenSSLErrorQueue.drain("EVP_PKEY_fromdata")
            }
            unsafe EVP_PKEY_free(known)
            return nil
        }
        self.point = point
        unsafe self.key = key
    }

    /// The base point G of P-256 (SEC 2 section 2.4.2).
    private static let generator: [UInt8] = [
        0x04,
        0x6b, 0x17, 0xd1, 0xf2, 0xe1, 0x2c, 0x42, 0x47, 0xf8, 0xbc, 0xe6, 0xe5, 0x63, 0xa4, 0x40, 0xf2,
        0x77, 0x03, 0x7d, 0x81, 0x2d, 0xeb, 0x33, 0xa0, 0xf4, 0xa1, 0x39, 0x45, 0xd8, 0x98, 0xc2, 0x96,
        0x4f, 0xe3, 0x42, 0xe2, 0xfe, 0x1a, 0x7f, 0x9b, 0x8e, 0xe7, 0xeb, 0x4a, 0x7c, 0x0f, 0x9e, 0x16,
        0x2b, 0xce, 0x33, 0x57, 0x6b, 0x31, 0x5e, 0xce, 0xcb, 0xb6, 0x40, 0x68, 0x37, 0xbf, 0x51, 0xf5,
    ]

    private static let last = Mutex<P256PublicKey?>(nil)

    /// The key of a point, as from `init(point:)`. The last key is cached, because an archive often has many bundles of
    /// one device in a row.
    package static func of(point: [UInt8]) throws(NativeError) -> P256PublicKey? {
        if let known = last.withLock({ $0 }), known.point == point { return known }
        let key = try P256PublicKey(point: point)
        if let key { last.withLock { $0 = key } }
        return key
    }

    /// Reads a SubjectPublicKeyInfo PEM; nil if the bytes are not such a PEM or the key is not on P-256.
    package convenience init?(pem: [UInt8]) throws(NativeError) {
        let bio = try MemoryBIO(pem)
        guard let key = unsafe bio.read({ unsafe PEM_read_bio_PUBKEY($0, nil, nil, $1) }) else {
            _ = OpenSSLErrorQueue.drain("PEM_read_bio_PUBKEY")
            return nil
        }
        defer { unsafe EVP_PKEY_free(key) }
        guard let point = unsafe P256Point.of(key) else { return nil }
        try self.init(point: point)
    }

    deinit { unsafe EVP_PKEY_free(key) }

    package func pem() throws(NativeError) -> [UInt8] {
        let bio = try MemoryBIO()
        try OpenSSLErrorQueue.require(
            unsafe bio.with { unsafe PEM_write_bio_PUBKEY($0, key) } == 1, "PEM_write_bio_PUBKEY")
        return bio.contents
    }

    /// Whether `signature` is this key's ECDSA signature with SHA-256 over `message`.
    package func verifies(_ signature: ECDSASignature, message: [UInt8]) throws(NativeError) -> Bool {
        guard let context = unsafe EVP_MD_CTX_new() else { throw OpenSSLErrorQueue.drain("EVP_MD_CTX_new") }
        defer { unsafe EVP_MD_CTX_free(context) }
        let ready = unsafe EVP_DigestVerifyInit(context, nil, Algorithm.sha256, nil, key)
        try OpenSSLErrorQueue.require(ready == 1, "EVP_DigestVerifyInit")
        let der = signature.der
        let verdict = unsafe EVP_DigestVerify(context, der, der.count, message, message.count)
        if verdict == 1 { return true }
        try OpenSSLErrorQueue.drainRefusal("EVP_DigestVerify")
        // A negative result means that the call failed. r and s are in range, so the signature cannot be the cause.
        guard verdict == 0 else { throw OpenSSLErrorQueue.drain("EVP_DigestVerify") }
        return false
    }

    private static func load(_ point: [UInt8]) -> OpaquePointer? {
        guard let context = unsafe EVP_PKEY_CTX_new_from_name(nil, "EC", nil) else { return nil }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        var point = point
        let isLoaded = unsafe point.withUnsafeMutableBytes { bytes in
            var parameters = unsafe [
                OSSL_PARAM_construct_utf8_string(
                    capture_param_group, UnsafeMutablePointer(mutating: capture_p256_name), 0),
                OSSL_PARAM_construct_octet_string(capture_param_public_key, bytes.baseAddress, bytes.count),
                OSSL_PARAM_construct_end(),
            ]
            return unsafe EVP_PKEY_fromdata_init(context) == 1
                && EVP_PKEY_fromdata(context, &key, capture_public_key_selection, &parameters) == 1
        }
        return unsafe isLoaded ? key : nil
    }
}

/// Reads the public point of an OpenSSL key.
enum P256Point {
    /// The point in 65 bytes; nil unless the key is an EC key on P-256.
    static func of(_ key: OpaquePointer) -> [UInt8]? {
        var name = [CChar](repeating: 0, count: 64)
        var length = 0
        let named = unsafe EVP_PKEY_get_group_name(key, &name, name.count, &length)
        guard named == 1, name.prefix(length).elementsEqual("prime256v1".utf8.map { CChar(bitPattern: $0) }) else {
            _ = OpenSSLErrorQueue.drain("EVP_PKEY_get_group_name")
            return nil
        }
        guard
            let x = unsafe coordinate(OSSL_PKEY_PARAM_EC_PUB_X, of: key),
            let y = unsafe coordinate(OSSL_PKEY_PARAM_EC_PUB_Y, of: key)
        else { return nil }
        return [0x04] + x + y
    }

    private static func coordinate(_ name: String, of key: OpaquePointer) -> [UInt8]? {
        var number: OpaquePointer?
        guard unsafe EVP_PKEY_get_bn_param(key, name, &number) == 1 else { return nil }
        defer { unsafe BN_free(number) }
        var bytes = [UInt8](repeating: 0, count: 32)
        return unsafe BN_bn2binpad(number, &bytes, 32) == 32 ? bytes : nil
    }
}
