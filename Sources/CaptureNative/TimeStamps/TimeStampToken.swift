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
        /// The GeneralizedTime `YYYYMMDDhhmmss[.f]Z` as `YYYY-MM-DDThh:mm:ss[.f]Z`; nil if it is too short for that.
        package let time: String?
        /// Seconds, milliseconds and microseconds; nil for a number below 0 or of more than 64 bits, 0 if absent.
        package let accuracy: [UInt64?]
    }

    /// The reason why a token does not count.
    package struct Refusal: Error {
        package let reason: String
        /// Whether OpenSSL cannot check the signature, so that nothing is known about it.
        package var isUnsupported = false
    }

    private let message: OpaquePointer
    /// The X.509 certificates in the token.
    private let certificates: [Certificate]
    private let signature: TimeStampSignature?
    /// The signer, once it is found.
    private var signer: Certificate?

    /// Parses a token; nil unless the bytes are the DER of one. Only sets may be unsorted (Spec/time-stamps.md S1).
    package init?(der: [UInt8]) throws(NativeError) {
        guard let message = unsafe decodeDER(der, { unsafe d2i_CMS_ContentInfo(nil, $0, $1) }) else {
            try OpenSSLErrorQueue.drainRefusal("d2i_CMS_ContentInfo")
            return nil
        }
        unsafe self.message = message
        certificates = try unsafe CertificateStack.taking(CMS_get1_certs(message))
        signature = unsafe TimeStampSignature(message, der: der)
        // OpenSSL reads other encodings too, and bytes may follow the token. It writes DER, and sorts the sets: then
        // the same bytes are in another order, while each other encoding is longer or has a byte of another value.
        let written = unsafe encodeDER { unsafe i2d_CMS_ContentInfo(message, $0) }
        try OpenSSLErrorQueue.drainRefusal("i2d_CMS_ContentInfo")
        guard written == der || written?.sorted() == der.sorted(), signature?.namesByKey != true else { return nil }
    }

    deinit { unsafe CMS_ContentInfo_free(message) }

    /// The signed content, if the token has one signer, and content of version 1 without extensions that a reader has
    /// to know.
    package func content() throws(NativeError) -> Result<Content, Refusal> {
        let isStamp = unsafe OBJ_obj2nid(CMS_get0_eContentType(message)) == NID_id_smime_ct_TSTInfo
        let info = unsafe isStamp ? decodeDER(signedBytes) { unsafe d2i_TS_TST_INFO(nil, $0, $1) } : nil
        guard let info = unsafe info else {
            try OpenSSLErrorQueue.drainRefusal("d2i_TS_TST_INFO")
            return .failure(Refusal(reason: "the token is not a SignedData over a TSTInfo"))
        }
        defer { unsafe TS_TST_INFO_free(info) }
        let count = unsafe OPENSSL_sk_num(CMS_get0_SignerInfos(message))
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

    /// The encoded TSTInfo; empty if there is none.
    private var signedBytes: [UInt8] { unsafe stringBytes(CMS_get0_content(message)?.pointee) }

    /// Whether the signature is right, and made by a certificate that is only for time stamps. Who owns the certificate is not
    /// checked.
    ///
    /// - Parameter others: Further certificates among which the signer's is searched.
    /// - Returns: What is wrong; nil for nothing.
    package func signatureFault(knowing others: [Certificate]) throws(NativeError) -> Refusal? {
        guard let signature, let found = signature.signer(among: others + certificates) else {
            return Refusal(reason: "the signer's certificate is neither in the token nor among the trusted ones")
        }
        signer = found
        guard unsafe X509_check_purpose(found.pointer, X509_PURPOSE_TIMESTAMP_SIGN, 0) == 1 else {
            try OpenSSLErrorQueue.drainRefusal("X509_check_purpose")
            return Refusal(
                reason: "the signer's certificate is not for time stamps alone (critical extended key usage)")
        }
        guard try signature.names(found, others: certificates) else {
            return Refusal(reason: "the signing-certificate attribute is missing or names another certificate")
        }
        return try signature.fault(over: signedBytes, by: found)
    }

    /// Whether the name of the TSA in the content, if there is one, is a name of the signer's certificate.
    package func namesItsSigner() throws(NativeError) -> Bool {
        guard let signer, let info = unsafe decodeDER(signedBytes, { unsafe d2i_TS_TST_INFO(nil, $0, $1) })
        else { return false }
        defer { unsafe TS_TST_INFO_free(info) }
        guard let name = unsafe TS_TST_INFO_get_tsa(info) else { return true }
        if unsafe name.pointee.type == GEN_DIRNAME
            && X509_NAME_cmp(name.pointee.d.directoryName, X509_get_subject_name(signer.pointer)) == 0
        {
            return true
        }
        let names = unsafe OpaquePointer(X509_get_ext_d2i(signer.pointer, NID_subject_alt_name, nil, nil))
        defer { unsafe GENERAL_NAMES_free(names) }
        try OpenSSLErrorQueue.drainRefusal("X509_get_ext_d2i")
        return (0..<max(0, unsafe OPENSSL_sk_num(names))).contains { index in
            let other = unsafe OPENSSL_sk_value(names, index)?.assumingMemoryBound(to: GENERAL_NAME.self)
            return unsafe GENERAL_NAME_cmp(name, UnsafeMutablePointer(mutating: other)) == 0
        }
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
        let others = try CertificateStack(trusted.der == signer.der ? [] : certificates)
        let isReady =
            unsafe X509_STORE_CTX_init(context, store, signer.pointer, others.pointer) == 1
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
}

extension TimeStampToken.Content {
    fileprivate init(_ info: OpaquePointer) {
        let imprint = unsafe TS_TST_INFO_get_msg_imprint(info)
        let algorithm = unsafe OBJ_obj2nid(TS_MSG_IMPRINT_get_algo(imprint)?.pointee.algorithm)
        sha256 = algorithm == NID_sha256 ? unsafe stringBytes(TS_MSG_IMPRINT_get_msg(imprint)) : nil
        let number = unsafe TS_TST_INFO_get_nonce(info)
        let isPositive = unsafe number.map { unsafe $0.pointee.type == V_ASN1_INTEGER } ?? false
        nonce = unsafe isPositive ? stringBytes(number) : nil
        let digits = unsafe stringBytes(TS_TST_INFO_get_time(info))
        func part(_ range: Range<Int>) -> String { String(decoding: digits[range], as: UTF8.self) }
        time =
            digits.count < 15
            ? nil
            : "\(part(0..<4))-\(part(4..<6))-\(part(6..<8))T\(part(8..<10)):\(part(10..<12)):\(part(12..<digits.count))"
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

/// A TimeStampReq (RFC 3161 section 2.4.1) for a SHA-256, without a policy and extensions, that asks for certificates.
package enum TimeStampRequest {
    package static func der(sha256 imprint: [UInt8], nonce: [UInt8]) -> [UInt8] {
        // SHA-256 without parameters is allowed too, but servers expect the NULL that other tools write.
        let sha256: [UInt8] = [0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05, 0x00]
        let hash = DER.sequence(DER.sequence(sha256) + DER.element(DER.octetString, imprint))
        let certReq: [UInt8] = [0x01, 0x01, 0xff]
        return DER.sequence(DER.element(DER.integer, [1]) + hash + DER.element(DER.integer, nonce) + certReq)
    }

    /// The contents of the nonce, in a request as `der` writes it; nil if there is none.
    package static func nonce(_ der: [UInt8]) -> [UInt8]? {
        guard let parts = DER.sequence(der[...]), parts.count == 4 else { return nil }
        return Array(parts[2].contents)
    }
}

/// The outside of a TimeStampResp (RFC 3161 section 2.4.2): whether the request was granted, and the token.
package struct TimeStampResponse {
    /// 0 granted, 1 granted with modifications, 2 rejection, 3 waiting, 4 and 5 about revocations.
    package let status: UInt8
    /// The first text that the authority adds to the status.
    package let text: String?
    /// The DER of the token, which is not parsed yet.
    package let token: [UInt8]?

    /// Parses a response; nil unless the bytes are the DER of one, as far as it is parsed here.
    package init?(der: [UInt8]) {
        guard let parts = DER.sequence(der[...]), (1...2).contains(parts.count),
            let info = DER.sequence(parts[0].whole), let number = info.first, number.tag == DER.integer,
            number.contents.count == 1, let status = number.contents.first, status < 0x80
        else { return nil }
        var rest = info.dropFirst()
        var texts: [DER.Element]? = []
        if rest.first?.tag == DER.sequenceTag { texts = rest.popFirst().flatMap { DER.sequence($0.whole) } }
        if rest.first?.tag == DER.bitString { rest.removeFirst() }
        guard let texts, texts.allSatisfy({ $0.tag == DER.text }), rest.isEmpty else { return nil }
        self.status = status
        text = texts.first.map { String(decoding: $0.contents, as: UTF8.self) }
        token = parts.count == 2 ? Array(parts[1].whole) : nil
    }
}
