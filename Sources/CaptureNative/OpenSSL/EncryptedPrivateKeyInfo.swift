import COpenSSL

/// PKCS#8 EncryptedPrivateKeyInfo (RFC 5958) with PBES2 (RFC 8018), scrypt (RFC 7914: N 2^17, r 8, p 1) and AES-256-CBC.
///
/// OpenSSL supports these parts, but its PKCS#8 calls limit scrypt to 32 MiB of memory and refuse N 2^17, which takes
/// 128 MiB. Therefore this type builds and parses the few bytes of ASN.1 itself. It passes keys with other parameters,
/// made by other tools, to OpenSSL.
enum EncryptedPrivateKeyInfo {
    static let label = "ENCRYPTED PRIVATE KEY"

    private static let saltLength = 16
    private static let ivLength = 16
    private static let cost: UInt64 = 1 << 17
    private static let memoryLimit: UInt64 = 160 << 20

    private static let pbes2: [UInt8] = [0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x05, 0x0d]
    private static let scrypt: [UInt8] = [0x06, 0x09, 0x2b, 0x06, 0x01, 0x04, 0x01, 0xda, 0x47, 0x04, 0x0b]
    private static let aes256CBC: [UInt8] = [0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x01, 0x2a]

    static func seal(_ plain: [UInt8], passphrase: [UInt8]) throws(NativeError) -> [UInt8] {
        let salt = try RandomBytes.make(saltLength)
        let iv = try RandomBytes.make(ivLength)
        let key = try derive(passphrase, salt: salt)
        guard let cipher = try crypt(plain, key: key, iv: iv, encrypts: true) else {
            throw OpenSSLErrorQueue.drain("EVP_CipherFinal_ex")
        }
        return DER.sequence(algorithm(salt: salt, iv: iv) + DER.element(DER.octetString, cipher))
    }

    /// Decrypts a key; nil if the passphrase is wrong.
    static func open(_ sealed: [UInt8], passphrase: [UInt8]) throws(NativeError) -> [UInt8]? {
        guard let (salt, iv, cipher) = parse(sealed) else { return openWithOpenSSL(sealed, passphrase: passphrase) }
        return try crypt(cipher, key: derive(passphrase, salt: salt), iv: iv, encrypts: false)
    }

    /// Splits bytes that `seal` made into their parts; nil for any other structure.
    private static func parse(_ sealed: [UInt8]) -> (salt: [UInt8], iv: [UInt8], cipher: [UInt8])? {
        let none = [UInt8](repeating: 0, count: saltLength)
        let model = algorithm(salt: none, iv: none)
        // The model contains two runs of 16 zero bytes; all other bytes are the same in every sealed key.
        guard let saltStart = model.firstRange(of: [0x04, 0x10] + none)?.lowerBound.advanced(by: 2),
            let parts = DER.sequence(sealed[...]), parts.count == 2, parts[0].whole.count == model.count
        else { return nil }
        let salt = Array(parts[0].whole.dropFirst(saltStart).prefix(saltLength))
        let (iv, cipher) = (Array(parts[0].whole.suffix(ivLength)), Array(parts[1].contents))
        let isOwn = sealed == DER.sequence(algorithm(salt: salt, iv: iv) + DER.element(DER.octetString, cipher))
        return isOwn ? (salt, iv, cipher) : nil
    }

    private static func algorithm(salt: [UInt8], iv: [UInt8]) -> [UInt8] {
        // The parameters are N 131072, r 8, p 1 and the key length 32.
        let numbers: [UInt8] = [0x02, 0x03, 0x02, 0x00, 0x00, 0x02, 0x01, 0x08, 0x02, 0x01, 0x01, 0x02, 0x01, 0x20]
        let derivation = DER.sequence(scrypt + DER.sequence(DER.element(DER.octetString, salt) + numbers))
        let encryption = DER.sequence(aes256CBC + DER.element(DER.octetString, iv))
        return DER.sequence(pbes2 + DER.sequence(derivation + encryption))
    }

    private static func derive(_ passphrase: [UInt8], salt: [UInt8]) throws(NativeError) -> [UInt8] {
        var key = [UInt8](repeating: 0, count: 32)
        let status = unsafe EVP_PBE_scrypt(
            passphrase.map { CChar(bitPattern: $0) }, passphrase.count, salt, salt.count, cost, 8, 1, memoryLimit, &key,
            key.count)
        try OpenSSLErrorQueue.require(status == 1, "EVP_PBE_scrypt")
        return key
    }

    /// Encrypts or decrypts; nil if the decrypted bytes have no valid padding.
    private static func crypt(
        _ input: [UInt8], key: [UInt8], iv: [UInt8], encrypts: Bool
    ) throws(NativeError) -> [UInt8]? {
        guard let context = unsafe EVP_CIPHER_CTX_new() else { throw OpenSSLErrorQueue.drain("EVP_CIPHER_CTX_new") }
        defer { unsafe EVP_CIPHER_CTX_free(context) }
        let ready = unsafe EVP_CipherInit_ex(context, EVP_aes_256_cbc(), nil, key, iv, encrypts ? 1 : 0)
        try OpenSSLErrorQueue.require(ready == 1, "EVP_CipherInit_ex")
        var output = [UInt8](repeating: 0, count: input.count + 32)
        var first: Int32 = 0
        var last: Int32 = 0
        let status = unsafe output.withUnsafeMutableBufferPointer { target in
            guard unsafe EVP_CipherUpdate(context, target.baseAddress, &first, input, Int32(input.count)) == 1 else {
                return Int32(0)
            }
            return unsafe EVP_CipherFinal_ex(context, target.baseAddress?.advanced(by: Int(first)), &last)
        }
        guard status == 1 else {
            _ = OpenSSLErrorQueue.drain("EVP_CipherFinal_ex")
            return nil
        }
        return Array(output.prefix(Int(first + last)))
    }

    private static func openWithOpenSSL(_ sealed: [UInt8], passphrase: [UInt8]) -> [UInt8]? {
        guard let signature = unsafe decodeDER(sealed, { unsafe d2i_X509_SIG(nil, $0, $1) }) else { return nil }
        defer { unsafe X509_SIG_free(signature) }
        let secret = passphrase.map { CChar(bitPattern: $0) }
        guard let info = unsafe PKCS8_decrypt(signature, secret, Int32(secret.count)) else {
            _ = OpenSSLErrorQueue.drain("PKCS8_decrypt")
            return nil
        }
        defer { unsafe PKCS8_PRIV_KEY_INFO_free(info) }
        return unsafe encodeDER { unsafe i2d_PKCS8_PRIV_KEY_INFO(info, $0) }
    }
}

/// Reads how much work a passphrase takes, without doing that work.
extension EncryptedPrivateKeyInfo {
    /// The iteration count of PBKDF2 or of an older scheme (RFC 8018), or N · r · p of scrypt (RFC 7914).
    ///
    /// - Returns: nil if OpenSSL finds no such number, in which case it cannot open the key either; `UInt64.max` if the
    ///   number is negative or has more than 64 bits.
    static func iterations(_ sealed: [UInt8]) -> UInt64? {
        let signature = unsafe decodeDER(sealed) { unsafe d2i_X509_SIG(nil, $0, $1) }
        defer {
            unsafe X509_SIG_free(signature)
            _ = OpenSSLErrorQueue.drain("d2i_X509_SIG")
        }
        guard let signature = unsafe signature else { return nil }
        var algorithm: UnsafePointer<X509_ALGOR>?
        unsafe X509_SIG_get0(signature, &algorithm, nil)
        let (scheme, parameters) = unsafe parts(algorithm)
        guard scheme == NID_pbes2 else {
            guard let old = unsafe decodeDER(parameters, { unsafe d2i_PBEPARAM(nil, $0, $1) }) else { return nil }
            defer { unsafe PBEPARAM_free(old) }
            return unsafe number(old.pointee.iter)
        }
        guard let scheme2 = unsafe decodeDER(parameters, { unsafe d2i_PBE2PARAM(nil, $0, $1) }) else { return nil }
        defer { unsafe PBE2PARAM_free(scheme2) }
        let (function, numbers) = unsafe parts(scheme2.pointee.keyfunc)
        if function == NID_id_scrypt {
            guard let scrypt = unsafe decodeDER(numbers, { unsafe d2i_SCRYPT_PARAMS(nil, $0, $1) }) else { return nil }
            defer { unsafe SCRYPT_PARAMS_free(scrypt) }
            let factors = unsafe [
                scrypt.pointee.costParameter, scrypt.pointee.blockSize, scrypt.pointee.parallelizationParameter,
            ]
            return unsafe factors.map { unsafe number($0) }.reduce(1) { product, factor in
                let (value, isTooLarge) = product.multipliedReportingOverflow(by: factor)
                return isTooLarge ? .max : value
            }
        }
        guard let derivation = unsafe decodeDER(numbers, { unsafe d2i_PBKDF2PARAM(nil, $0, $1) }) else { return nil }
        defer { unsafe PBKDF2PARAM_free(derivation) }
        return unsafe number(derivation.pointee.iter)
    }

    /// The algorithm's identifier, and its parameters if they are a sequence.
    private static func parts(_ algorithm: UnsafePointer<X509_ALGOR>?) -> (kind: Int32, parameters: [UInt8]) {
        var object: OpaquePointer?
        var type: Int32 = 0
        var value: UnsafeRawPointer?
        unsafe X509_ALGOR_get0(&object, &type, &value, algorithm)
        let kind = unsafe OBJ_obj2nid(object)
        guard type == V_ASN1_SEQUENCE else { return (kind, []) }
        return unsafe (kind, stringBytes(value?.assumingMemoryBound(to: ASN1_STRING.self)))
    }

    private static func number(_ integer: UnsafeMutablePointer<ASN1_INTEGER>?) -> UInt64 {
        var value: UInt64 = 0
        guard let integer = unsafe integer else { return .max }
        return unsafe ASN1_INTEGER_get_uint64(&value, integer) == 1 ? value : .max
    }
}
