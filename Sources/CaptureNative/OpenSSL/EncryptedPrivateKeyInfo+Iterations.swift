import COpenSSL

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
        guard type == V_ASN1_SEQUENCE, let string = unsafe value?.assumingMemoryBound(to: ASN1_STRING.self),
            let bytes = unsafe ASN1_STRING_get0_data(string)
        else { return (kind, []) }
        return unsafe (kind, Array(UnsafeBufferPointer(start: bytes, count: Int(ASN1_STRING_length(string)))))
    }

    private static func number(_ integer: UnsafeMutablePointer<ASN1_INTEGER>?) -> UInt64 {
        var value: UInt64 = 0
        guard let integer = unsafe integer else { return .max }
        return unsafe ASN1_INTEGER_get_uint64(&value, integer) == 1 ? value : .max
    }
}
