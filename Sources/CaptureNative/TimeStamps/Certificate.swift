import COpenSSL

/// An X.509 certificate (RFC 5280). Nothing about it is verified.
@safe
package final class Certificate {
    let pointer: OpaquePointer
    package let der: [UInt8]

    /// Parses a certificate; nil unless the bytes are the DER of one.
    package convenience init?(der: [UInt8]) throws(NativeError) {
        guard let pointer = unsafe decodeDER(der, { unsafe d2i_X509(nil, $0, $1) }) else {
            try OpenSSLErrorQueue.drainRefusal("d2i_X509")
            return nil
        }
        try unsafe self.init(owning: pointer)
        guard self.der == der else { return nil }
    }

    /// Takes another reference to a certificate of OpenSSL's.
    convenience init(sharing pointer: OpaquePointer) throws(NativeError) {
        try OpenSSLErrorQueue.require(unsafe X509_up_ref(pointer) == 1, "X509_up_ref")
        try unsafe self.init(owning: pointer)
    }

    private init(owning pointer: OpaquePointer) throws(NativeError) {
        unsafe self.pointer = pointer
        guard let der = unsafe encodeDER({ unsafe i2d_X509(pointer, $0) }) else {
            unsafe X509_free(pointer)
            throw OpenSSLErrorQueue.drain("i2d_X509")
        }
        self.der = der
    }

    deinit { unsafe X509_free(pointer) }

    /// The DER of its SubjectPublicKeyInfo.
    package func publicKey() throws(NativeError) -> [UInt8] {
        guard let key = unsafe X509_get_X509_PUBKEY(pointer),
            let der = unsafe encodeDER({ unsafe i2d_X509_PUBKEY(key, $0) })
        else { throw OpenSSLErrorQueue.drain("i2d_X509_PUBKEY") }
        return der
    }

    /// Whether its extended key usage, if it has one, includes time stamps.
    var isForTimeStamps: Bool {
        let usage = unsafe X509_get_extended_key_usage(pointer)
        return usage & UInt32(XKU_TIMESTAMP | XKU_ANYEKU) != 0
    }

    /// The DER of each certificate in a PEM file; nil if there is something else, such as a damaged certificate.
    package static func read(pem: [UInt8]) throws(NativeError) -> [[UInt8]]? {
        let bio = try MemoryBIO(pem)
        var found: [[UInt8]] = []
        while let pointer = unsafe bio.read({ unsafe PEM_read_bio_X509($0, nil, nil, $1) }) {
            found.append(try unsafe Certificate(owning: pointer).der)
        }
        // OpenSSL reports the end of the file as an error: no further line begins a certificate.
        let isEnd = capture_error_reason(ERR_peek_last_error()) == PEM_R_NO_START_LINE
        try OpenSSLErrorQueue.drainRefusal("PEM_read_bio_X509")
        return isEnd ? found : nil
    }
}

/// A stack of certificates, as OpenSSL takes it. It owns the stack, and keeps the certificates.
@safe
final class CertificateStack {
    let pointer: OpaquePointer
    private let certificates: [Certificate]

    init(_ certificates: [Certificate]) throws(NativeError) {
        guard let stack = unsafe OPENSSL_sk_new_null() else { throw OpenSSLErrorQueue.drain("OPENSSL_sk_new_null") }
        unsafe pointer = stack
        self.certificates = certificates
        for certificate in certificates {
            let count = unsafe OPENSSL_sk_push(stack, UnsafeRawPointer(certificate.pointer))
            try OpenSSLErrorQueue.require(count > 0, "OPENSSL_sk_push")
        }
    }

    deinit { unsafe OPENSSL_sk_free(pointer) }

    /// The certificates of a stack that the caller owns, which is freed; none for nil.
    static func taking(_ stack: OpaquePointer?) throws(NativeError) -> [Certificate] {
        defer {
            while let last = unsafe OPENSSL_sk_pop(stack) { unsafe X509_free(OpaquePointer(last)) }
            unsafe OPENSSL_sk_free(stack)
        }
        return try unsafe certificates(stack)
    }

    /// The certificates of a stack of OpenSSL's; none for nil.
    static func certificates(_ stack: OpaquePointer?) throws(NativeError) -> [Certificate] {
        var found: [Certificate] = []
        for index in 0..<max(0, unsafe OPENSSL_sk_num(stack)) {
            guard let value = unsafe OPENSSL_sk_value(stack, index) else { continue }
            found.append(try unsafe Certificate(sharing: OpaquePointer(value)))
        }
        return found
    }
}
