import COpenSSL

/// The token of a time stamp: a CMS SignedData (RFC 5652) over a TSTInfo (RFC 3161 section 2.4.2).
@safe
package final class TimeStampToken {
    /// What the authority signed, not verified yet.
    package struct Content {
        /// The hash that was stamped; nil if its algorithm is not SHA-256.
        package let sha256: [UInt8]?
        /// The contents of the INTEGER; nil if there is none.
        package let nonce: [UInt8]?
        /// The text of the GeneralizedTime.
        package let time: [UInt8]
        /// Seconds, milliseconds and microseconds; nil for a number below 0 or of more than 64 bits, 0 if absent.
        package let accuracy: [UInt64?]
    }

    /// The reason why a token does not count.
    package struct Refusal: Error {
        package let reason: String
    }

    private let token: UnsafeMutablePointer<PKCS7>
    /// The signer, once it is found.
    private var signer: Certificate?

    /// Parses a token; nil unless the bytes are the DER of one.
    package init?(der: [UInt8]) throws(NativeError) {
        guard let token = unsafe decodeDER(der, { unsafe d2i_PKCS7(nil, $0, $1) }) else {
            try OpenSSLErrorQueue.drainRefusal("d2i_PKCS7")
            return nil
        }
        unsafe self.token = token
        // OpenSSL reads other encodings too, and bytes may follow the token.
        guard unsafe encodeDER({ unsafe i2d_PKCS7(token, $0) }) == der else {
            try OpenSSLErrorQueue.drainRefusal("i2d_PKCS7")
            return nil
        }
    }

    deinit { unsafe PKCS7_free(token) }

    /// The signed content, if the token has one signer, and content of version 1 without extensions that a reader has
    /// to know.
    package func content() throws(NativeError) -> Result<Content, Refusal> {
        let isSigned = unsafe OBJ_obj2nid(token.pointee.type) == NID_pkcs7_signed && token.pointee.d.sign != nil
        guard isSigned, let info = unsafe PKCS7_to_TS_TST_INFO(token) else {
            try OpenSSLErrorQueue.drainRefusal("PKCS7_to_TS_TST_INFO")
            return .failure(Refusal(reason: "the token is not a SignedData over a TSTInfo"))
        }
        defer { unsafe TS_TST_INFO_free(info) }
        let count = unsafe OPENSSL_sk_num(PKCS7_get_signer_info(token))
        guard count == 1 else {
            return .failure(Refusal(reason: "the token has \(max(0, count)) signers, expected one"))
        }
        let version = unsafe TS_TST_INFO_get_version(info)
        guard version == 1 else {
            return .failure(Refusal(reason: "the TSTInfo has version \(version), expected 1"))
        }
        guard unsafe TS_TST_INFO_get_ext_by_critical(info, 1, -1) < 0 else {
            return .failure(Refusal(reason: "the TSTInfo has an unknown critical extension"))
        }
        return .success(unsafe Content(info))
    }

    /// Whether the signature is right, and made by a certificate that is only for time stamps. Who owns the certificate is not
    /// checked.
    ///
    /// - Parameter certificates: Further certificates among which the signer's is searched.
    /// - Returns: What is wrong; nil for nothing.
    package func signatureFault(knowing certificates: [Certificate]) throws(NativeError) -> Refusal? {
        let known = try CertificateStack(certificates)
        let signers = unsafe PKCS7_get0_signers(token, known.pointer, 0)
        defer { unsafe OPENSSL_sk_free(signers) }
        guard let found = try unsafe CertificateStack.certificates(signers).first,
            let info = unsafe OPENSSL_sk_value(PKCS7_get_signer_info(token), 0)?
                .assumingMemoryBound(to: PKCS7_SIGNER_INFO.self)
        else {
            try OpenSSLErrorQueue.drainRefusal("PKCS7_get0_signers")
            return Refusal(reason: "the signer's certificate is neither in the token nor among the trusted ones")
        }
        signer = found
        guard unsafe X509_check_purpose(found.pointer, X509_PURPOSE_TIMESTAMP_SIGN, 0) == 1 else {
            try OpenSSLErrorQueue.drainRefusal("X509_check_purpose")
            return Refusal(
                reason: "the signer's certificate is not for time stamps alone (critical extended key usage)")
        }
        guard try unsafe namesSigner(info, found) else {
            return Refusal(reason: "the signing-certificate attribute is missing or names another certificate")
        }
        guard try unsafe isSigned(info, by: found) else { return Refusal(reason: "the signature is wrong") }
        return nil
    }

    /// The certificates from the signer's to a trusted one, each valid at a time.
    ///
    /// - Parameter seconds: Unix time.
    package func chain(to trusted: Certificate, at seconds: Int) throws(NativeError) -> Result<[Certificate], Refusal> {
        guard let signer else { return .failure(Refusal(reason: "the signer is unknown")) }
        guard let store = unsafe X509_STORE_new() else { throw OpenSSLErrorQueue.drain("X509_STORE_new") }
        defer { unsafe X509_STORE_free(store) }
        try OpenSSLErrorQueue.require(unsafe X509_STORE_add_cert(store, trusted.pointer) == 1, "X509_STORE_add_cert")
        let parameters = unsafe X509_STORE_get0_param(store)
        unsafe X509_VERIFY_PARAM_set_time(parameters, seconds)
        unsafe X509_VERIFY_PARAM_set_auth_level(parameters, Self.securityLevel)
        let isSet = unsafe X509_VERIFY_PARAM_set_flags(parameters, UInt(X509_V_FLAG_PARTIAL_CHAIN)) == 1
        try OpenSSLErrorQueue.require(isSet, "X509_VERIFY_PARAM_set_flags")
        guard let context = unsafe X509_STORE_CTX_new() else { throw OpenSSLErrorQueue.drain("X509_STORE_CTX_new") }
        defer { unsafe X509_STORE_CTX_free(context) }
        // A chain to the signer's own certificate is only this certificate; OpenSSL would lengthen it.
        let others = trusted.der == signer.der ? nil : unsafe token.pointee.d.sign.pointee.cert
        let isReady =
            unsafe X509_STORE_CTX_init(context, store, signer.pointer, others) == 1
            && X509_STORE_CTX_set_purpose(context, X509_PURPOSE_TIMESTAMP_SIGN) == 1
        try OpenSSLErrorQueue.require(isReady, "X509_STORE_CTX_init")
        let verdict = unsafe X509_verify_cert(context)
        try OpenSSLErrorQueue.drainRefusal("X509_verify_cert")
        let code = unsafe X509_STORE_CTX_get_error(context)
        guard code != X509_V_ERR_OUT_OF_MEM, verdict >= 0 else { throw OpenSSLErrorQueue.drain("X509_verify_cert") }
        guard verdict == 1 else {
            return .failure(unsafe Refusal(reason: String(cString: X509_verify_cert_error_string(Int(code)))))
        }
        let chain = try unsafe CertificateStack.certificates(X509_STORE_CTX_get0_chain(context))
        // OpenSSL does not ask this of authorities: one for servers only could make a signer of time stamps.
        guard chain.allSatisfy({ $0.isForTimeStamps }) else {
            return .failure(Refusal(reason: "a certificate of the chain is for other uses"))
        }
        return .success(chain)
    }

    /// OpenSSL's level for keys and hashes of at least 112 bits.
    private static let securityLevel: Int32 = 2
    private static let digests = [NID_sha256, NID_sha384, NID_sha512]

    /// Whether the signer's attributes say that it signed a TSTInfo, and with this certificate.
    private func namesSigner(
        _ info: UnsafeMutablePointer<PKCS7_SIGNER_INFO>, _ signer: Certificate
    ) throws(NativeError) -> Bool {
        let type = unsafe PKCS7_get_signed_attribute(info, NID_pkcs9_contentType)
        guard let type = unsafe type, unsafe type.pointee.type == V_ASN1_OBJECT,
            unsafe OBJ_obj2nid(type.pointee.value.object) == NID_id_smime_ct_TSTInfo
        else { return false }
        let first = unsafe decodeDER(Self.attribute(info, NID_id_smime_aa_signingCertificate)) {
            unsafe d2i_ESS_SIGNING_CERT(nil, $0, $1)
        }
        defer { unsafe ESS_SIGNING_CERT_free(first) }
        let second = unsafe decodeDER(Self.attribute(info, NID_id_smime_aa_signingCertificateV2)) {
            unsafe d2i_ESS_SIGNING_CERT_V2(nil, $0, $1)
        }
        defer { unsafe ESS_SIGNING_CERT_V2_free(second) }
        // An attribute may name the chain after the signer; it may end at another trusted certificate than ours.
        let others = try unsafe CertificateStack.certificates(token.pointee.d.sign.pointee.cert)
        let stack = try CertificateStack([signer] + others.filter { $0.der != signer.der })
        let isNamed = unsafe OSSL_ESS_check_signing_certs(first, second, stack.pointer, 1) > 0
        try OpenSSLErrorQueue.drainRefusal("OSSL_ESS_check_signing_certs")
        return isNamed
    }

    /// The bytes of an attribute that is a SEQUENCE; none if it is missing.
    private static func attribute(_ info: UnsafeMutablePointer<PKCS7_SIGNER_INFO>, _ nid: Int32) -> [UInt8] {
        guard let value = unsafe PKCS7_get_signed_attribute(info, nid), unsafe value.pointee.type == V_ASN1_SEQUENCE
        else { return [] }
        return unsafe Self.bytes(value.pointee.value.sequence)
    }

    private func isSigned(
        _ info: UnsafeMutablePointer<PKCS7_SIGNER_INFO>, by signer: Certificate
    ) throws(NativeError) -> Bool {
        let digest = unsafe OBJ_obj2nid(info.pointee.digest_alg?.pointee.algorithm)
        guard Self.digests.contains(digest), let bio = unsafe PKCS7_dataInit(token, nil) else {
            try OpenSSLErrorQueue.drainRefusal("PKCS7_dataInit")
            return false
        }
        defer { unsafe BIO_free_all(bio) }
        // Reading the content computes its hash.
        var buffer = [UInt8](repeating: 0, count: 4096)
        while unsafe BIO_read(bio, &buffer, Int32(buffer.count)) > 0 {}
        let isRight = unsafe PKCS7_signatureVerify(bio, token, info, signer.pointer) == 1
        try OpenSSLErrorQueue.drainRefusal("PKCS7_signatureVerify")
        return isRight
    }

    fileprivate static func bytes(_ string: UnsafePointer<ASN1_STRING>?) -> [UInt8] {
        guard let string = unsafe string, let data = unsafe ASN1_STRING_get0_data(string) else { return [] }
        return unsafe [UInt8](UnsafeBufferPointer(start: data, count: Int(ASN1_STRING_length(string))))
    }
}

extension TimeStampToken.Content {
    fileprivate init(_ info: OpaquePointer) {
        let imprint = unsafe TS_TST_INFO_get_msg_imprint(info)
        let algorithm = unsafe OBJ_obj2nid(TS_MSG_IMPRINT_get_algo(imprint)?.pointee.algorithm)
        sha256 = algorithm == NID_sha256 ? unsafe TimeStampToken.bytes(TS_MSG_IMPRINT_get_msg(imprint)) : nil
        let number = unsafe TS_TST_INFO_get_nonce(info)
        let isPositive = unsafe number.map { unsafe $0.pointee.type == V_ASN1_INTEGER } ?? false
        nonce = unsafe isPositive ? TimeStampToken.bytes(number) : nil
        time = unsafe TimeStampToken.bytes(TS_TST_INFO_get_time(info))
        let parts = unsafe TS_TST_INFO_get_accuracy(info).map {
            unsafe [TS_ACCURACY_get_seconds($0), TS_ACCURACY_get_millis($0), TS_ACCURACY_get_micros($0)]
        }
        accuracy = unsafe (parts ?? []).map { part in
            guard let part = unsafe part else { return 0 }
            var value: UInt64 = 0
            return unsafe ASN1_INTEGER_get_uint64(&value, part) == 1 ? value : nil
        }
        _ = OpenSSLErrorQueue.drain("ASN1_INTEGER_get_uint64")
    }
}
