import COpenSSL

/// What the first signer of a time stamp has signed, and how: its SignerInfo (RFC 5652 section 5.3).
@safe
struct TimeStampSignature {
    /// It belongs to the token.
    private let info: OpaquePointer
    /// The signed attributes, with the tag of a SET, as they are hashed (section 5.4); nil if there are none.
    private let signed: [UInt8]?
    /// Whether the token lists the signer's hash.
    private let isListed: Bool
    /// The attribute certificates in the token (RFC 5652 section 10.2.2), with the tag of a SEQUENCE, as ESS hashes them.
    private let attributeCertificates: [[UInt8]]

    /// Whether the signer is named by the identifier of its key, and not by issuer and serial number.
    var namesByKey: Bool {
        var identifier: UnsafeMutablePointer<ASN1_OCTET_STRING>?
        return unsafe CMS_SignerInfo_get0_signer_id(info, &identifier, nil, nil) != 1 || identifier != nil
    }

    /// - Parameters:
    ///   - message: A parsed token.
    ///   - der: Its bytes.
    /// - Returns: nil for a token without a signer.
    init?(_ message: OpaquePointer, der: [UInt8]) {
        guard let info = unsafe OPENSSL_sk_value(CMS_get0_SignerInfos(message), 0) else { return nil }
        unsafe self.info = OpaquePointer(info)
        // OpenSSL hands the attributes out one by one. Their order is part of what was signed.
        let data = DER.sequence(der[...])?.last.flatMap { DER.sequence($0.contents) }
        let parts = data?.last.flatMap { DER.elements($0.contents)?.first }.flatMap { DER.sequence($0.whole) }
        signed = parts?.first { $0.tag == 0xa0 }.map { [0x31] + $0.whole.dropFirst() }
        func name(_ algorithm: DER.Element) -> ArraySlice<UInt8>? { DER.sequence(algorithm.whole)?.first?.contents }
        let listed = data?.dropFirst().first.flatMap { DER.elements($0.contents) } ?? []
        let shown = (data?.first { $0.tag == 0xa0 }).flatMap { DER.elements($0.contents) } ?? []
        attributeCertificates = shown.filter { [0xa1, 0xa2].contains($0.tag) }.map {
            [DER.sequenceTag] + $0.whole.dropFirst()
        }
        isListed = parts?.dropFirst(2).first.map { listed.map(name).contains(name($0)) } ?? false
    }

    func signer(among certificates: [Certificate]) -> Certificate? {
        certificates.first { unsafe CMS_SignerInfo_cert_cmp(info, $0.pointer) == 0 }
    }

    /// Whether the attributes say that a TSTInfo was signed, and with this certificate (ESS, RFC 5035).
    ///
    /// - Parameter others: The certificates in the token.
    func names(_ signer: Certificate, others: [Certificate]) throws(NativeError) -> Bool {
        let type = unsafe OpaquePointer(attribute(NID_pkcs9_contentType, V_ASN1_OBJECT))
        guard unsafe OBJ_obj2nid(type) == NID_id_smime_ct_TSTInfo else { return false }
        let first = try unsafe decodeDER(certificateNames(NID_id_smime_aa_signingCertificate)) {
            unsafe d2i_ESS_SIGNING_CERT(nil, $0, $1)
        }
        defer { unsafe ESS_SIGNING_CERT_free(first) }
        let second = try unsafe decodeDER(certificateNames(NID_id_smime_aa_signingCertificateV2)) {
            unsafe d2i_ESS_SIGNING_CERT_V2(nil, $0, $1)
        }
        defer { unsafe ESS_SIGNING_CERT_V2_free(second) }
        // An attribute may name the chain after the signer; it may end at another trusted certificate than ours.
        let stack = try CertificateStack([signer] + others.filter { $0.der != signer.der })
        let isNamed = unsafe OSSL_ESS_check_signing_certs(first, second, stack.pointer, 1) > 0
        try OpenSSLErrorQueue.drainRefusal("OSSL_ESS_check_signing_certs")
        return isNamed
    }

    /// What is wrong with the signature; nil for nothing.
    func fault(over content: [UInt8], by signer: Certificate) throws(NativeError) -> TimeStampToken.Refusal? {
        var (digest, algorithm): (UnsafeMutablePointer<X509_ALGOR>?, UnsafeMutablePointer<X509_ALGOR>?)
        unsafe CMS_SignerInfo_get0_algs(info, nil, nil, &digest, &algorithm)
        guard let digest = unsafe digest, let algorithm = unsafe algorithm, let signed,
            let key = unsafe X509_get0_pubkey(signer.pointer)
        else {
            try OpenSSLErrorQueue.drainRefusal("X509_get0_pubkey")
            return .init(reason: "the key of the signer's certificate is of an unknown kind", isUnsupported: true)
        }
        let hash = unsafe Self.hash(digest)
        let (taken, expected) = unsafe Self.hashes(for: key)
        guard taken.contains(hash) else {
            let name = unsafe OBJ_nid2ln(hash).map { unsafe String(cString: $0) } ?? "an unknown hash"
            return .init(reason: "it is signed with \(name), expected \(expected)")
        }
        guard isListed else { return .init(reason: "its hash is not in the list of the token") }
        let isWhole =
            try unsafe Self.digest(of: content, hash)
            == stringBytes(
                attribute(NID_pkcs9_messageDigest, V_ASN1_OCTET_STRING)?.assumingMemoryBound(to: ASN1_STRING.self))
        guard isWhole else { return .init(reason: "the signature is over another content") }
        let kind = unsafe OBJ_obj2nid(algorithm.pointee.algorithm)
        let padding = kind == NID_rsassaPss ? unsafe Padding(algorithm) : nil
        guard kind != NID_rsassaPss || padding?.hash == hash && Self.hashes.contains(padding?.mask ?? NID_undef) else {
            return .init(reason: "its RSASSA-PSS uses other hashes than SHA-256, SHA-384 and SHA-512, or two of them")
        }
        let verdict = unsafe verify(signed, key: key, hash: hash, padding: padding)
        try OpenSSLErrorQueue.drainRefusal("EVP_DigestVerify")
        if verdict == true { return nil }
        // The key decides how the signature is read; the name of the algorithm, whether that is what was meant.
        var meant = kind
        unsafe OBJ_find_sigid_algs(kind, nil, &meant)
        guard unsafe verdict != nil && (kind == NID_rsassaPss || EVP_PKEY_get_base_id(key) == meant) else {
            let name = unsafe OBJ_nid2ln(kind).map { unsafe String(cString: $0) } ?? "unknown"
            return .init(reason: "its signature algorithm, \(name), cannot be checked here", isUnsupported: true)
        }
        return .init(reason: "the signature is wrong")
    }

    private static let hashes = [NID_sha256, NID_sha384, NID_sha512]

    /// The hashes that a key signs, and their names. RFC 8419 section 3.1 has one for each kind of EdDSA.
    private static func hashes(for key: OpaquePointer) -> ([Int32], String) {
        if unsafe EVP_PKEY_is_a(key, "ED448") == 1 { return ([NID_shake256], "SHAKE256 with 512 bits") }
        if unsafe EVP_PKEY_is_a(key, "ED25519") == 1 { return ([NID_sha512], "SHA-512") }
        return (hashes, "SHA-256, SHA-384 or SHA-512")
    }

    /// The hash that an algorithm names. `id-shake256-len` (RFC 8702) with 512 bits is SHAKE256 as Ed448 uses it.
    private static func hash(_ algorithm: UnsafeMutablePointer<X509_ALGOR>) -> Int32 {
        var text = [CChar](repeating: 0, count: 64)
        unsafe OBJ_obj2txt(&text, Int32(text.count), algorithm.pointee.algorithm, 1)
        let isLong = text.prefix { $0 != 0 }.elementsEqual("2.16.840.1.101.3.4.2.18".utf8.map(CChar.init))
        guard isLong, let value = unsafe algorithm.pointee.parameter, unsafe value.pointee.type == V_ASN1_INTEGER,
            unsafe ASN1_INTEGER_get(value.pointee.value.integer) == 512
        else { return unsafe OBJ_obj2nid(algorithm.pointee.algorithm) }
        return NID_shake256
    }

    /// Whether a signature over bytes is right; nil if OpenSSL cannot check signatures of this kind.
    private func verify(_ bytes: [UInt8], key: OpaquePointer, hash: Int32, padding: Padding?) -> Bool? {
        guard let context = unsafe EVP_MD_CTX_new() else { return nil }
        defer { unsafe EVP_MD_CTX_free(context) }
        let hashesByItself = unsafe EVP_PKEY_is_a(key, "ED25519") == 1 || EVP_PKEY_is_a(key, "ED448") == 1
        let digest = unsafe hashesByItself ? nil : Self.function(hash)
        var options: OpaquePointer?
        guard unsafe EVP_DigestVerifyInit(context, &options, digest, nil, key) == 1 else { return nil }
        if let padding {
            let isSet =
                unsafe EVP_PKEY_CTX_set_rsa_padding(options, RSA_PKCS1_PSS_PADDING) > 0
                && EVP_PKEY_CTX_set_rsa_mgf1_md(options, Self.function(padding.mask)) > 0
                && EVP_PKEY_CTX_set_rsa_pss_saltlen(options, padding.salt) > 0
            guard isSet else { return false }
        }
        let signature = unsafe stringBytes(CMS_SignerInfo_get0_signature(info))
        return unsafe EVP_DigestVerify(context, signature, signature.count, bytes, bytes.count) == 1
    }

    private static func function(_ hash: Int32) -> OpaquePointer? { unsafe EVP_get_digestbyname(OBJ_nid2sn(hash)) }

    private static func digest(of content: [UInt8], _ hash: Int32) throws(NativeError) -> [UInt8] {
        guard let context = unsafe EVP_MD_CTX_new() else { throw OpenSSLErrorQueue.drain("EVP_MD_CTX_new") }
        defer { unsafe EVP_MD_CTX_free(context) }
        var digest = [UInt8](repeating: 0, count: Int(EVP_MAX_MD_SIZE))
        var isMade = unsafe EVP_DigestInit_ex(context, Self.function(hash), nil) == 1
        isMade = unsafe isMade && EVP_DigestUpdate(context, content, content.count) == 1
        // SHAKE256 has no length of its own.
        let count = hash == NID_shake256 ? digest.count : Int(unsafe EVP_MD_get_size(Self.function(hash)))
        isMade =
            unsafe isMade
            && (hash == NID_shake256
                ? EVP_DigestFinalXOF(context, &digest, count) : EVP_DigestFinal_ex(context, &digest, nil)) == 1
        try OpenSSLErrorQueue.require(isMade, "EVP_DigestFinal_ex")
        return Array(digest.prefix(count))
    }

    /// The first value of a signed attribute, if it has this type.
    private func attribute(_ identifier: Int32, _ type: Int32) -> UnsafeMutableRawPointer? {
        unsafe CMS_signed_get0_data_by_OBJ(info, OBJ_nid2obj(identifier), -1, type)
    }

    /// An ESS attribute without the attribute certificates of the token that it names after the signer (RFC 5035 section
    /// 5.4): OpenSSL looks for X.509 certificates only.
    private func certificateNames(_ identifier: Int32) throws(NativeError) -> [UInt8] {
        let whole = sequence(identifier)
        guard let parts = DER.sequence(whole[...]), let names = parts.first.flatMap({ DER.sequence($0.whole) }),
            let first = names.first, !attributeCertificates.isEmpty
        else { return whole }
        var hashes: [[UInt8]] = []
        for certificate in attributeCertificates {
            for hash in [NID_sha1, NID_sha256, NID_sha384, NID_sha512] {
                hashes.append(try Self.digest(of: certificate, hash))
            }
        }
        let others = names.dropFirst().filter { name in
            let hash = DER.sequence(name.whole)?.first { $0.tag == DER.octetString }
            return !hashes.contains(Array(hash?.contents ?? []))
        }
        let kept: [UInt8] = DER.sequence(first.whole + others.flatMap(\.whole))
        return DER.sequence(kept + parts.dropFirst().flatMap(\.whole))
    }

    /// The bytes of an attribute that is a SEQUENCE; none if it is missing.
    private func sequence(_ identifier: Int32) -> [UInt8] {
        unsafe stringBytes(
            attribute(identifier, V_ASN1_SEQUENCE)?.assumingMemoryBound(to: ASN1_STRING.self))
    }

    /// The parameters of RSASSA-PSS (RFC 4055 section 3.1).
    private struct Padding {
        let hash: Int32
        let mask: Int32
        let salt: Int32

        /// - Returns: nil if they cannot be read.
        init?(_ algorithm: UnsafeMutablePointer<X509_ALGOR>) {
            guard let value = unsafe algorithm.pointee.parameter, unsafe value.pointee.type == V_ASN1_SEQUENCE,
                let found = unsafe decodeDER(
                    stringBytes(value.pointee.value.sequence), { unsafe d2i_RSA_PSS_PARAMS(nil, $0, $1) })
            else { return nil }
            defer { unsafe RSA_PSS_PARAMS_free(found) }
            hash = unsafe found.pointee.hashAlgorithm.map { unsafe OBJ_obj2nid($0.pointee.algorithm) } ?? NID_sha1
            mask = unsafe found.pointee.maskGenAlgorithm.map { unsafe Self.hash(ofMask: $0) } ?? NID_sha1
            salt = unsafe found.pointee.saltLength.map { unsafe Int32(clamping: ASN1_INTEGER_get($0)) } ?? 20
            let trailer = unsafe found.pointee.trailerField.map { unsafe ASN1_INTEGER_get($0) } ?? 1
            guard salt >= 0, trailer == 1 else { return nil }
        }

        private static func hash(ofMask algorithm: UnsafeMutablePointer<X509_ALGOR>) -> Int32 {
            guard unsafe OBJ_obj2nid(algorithm.pointee.algorithm) == NID_mgf1,
                let value = unsafe algorithm.pointee.parameter, unsafe value.pointee.type == V_ASN1_SEQUENCE,
                let found = unsafe decodeDER(
                    stringBytes(value.pointee.value.sequence), { unsafe d2i_X509_ALGOR(nil, $0, $1) })
            else { return NID_undef }
            defer { unsafe X509_ALGOR_free(found) }
            return unsafe OBJ_obj2nid(found.pointee.algorithm)
        }
    }
}
