import COpenSSL
import Synchronization

/// A P-256 private key: generates, loads and stores it as PKCS#8 PEM, or finds it in hardware, and signs with it.
///
/// It is `@unchecked Sendable` because C pointers are never `Sendable`. Nothing changes the EVP_PKEY after `init`, each
/// operation has its own context, and openssl-threads(7) allows threads to share an object that no thread changes.
@safe
package final class P256PrivateKey: @unchecked Sendable {
    package enum LoadFailure: Error, Equatable {
        /// The PEM is encrypted and no passphrase was given.
        case passphraseNeeded
        /// The passphrase does not decrypt the PEM.
        case wrongPassphrase
        /// The key derivation takes more than `mostIterations` iterations.
        case tooManyIterations(UInt64)
        /// The PEM has this number of private keys, so that nobody can say which one is meant.
        case severalKeys(Int)
        /// The bytes are not a PKCS#8 PEM, or the key is not a P-256 key.
        case damaged
    }

    /// The largest accepted number of iterations, which takes seconds. A hostile key file could ask for days of work.
    package static let mostIterations: UInt64 = 10_000_000

    package let publicKey: P256PublicKey
    private let key: OpaquePointer
    /// nil for a key in memory.
    private let provider: HardwareProvider?

    /// Creates a key that stays in hardware.
    init(_ found: FoundKey, _ publicKey: P256PublicKey) {
        unsafe EVP_PKEY_up_ref(found.key)
        unsafe key = found.key
        (self.publicKey, provider) = (publicKey, found.provider)
    }

    /// Takes ownership of `key`.
    private init?(owning key: OpaquePointer) {
        guard let point = unsafe P256Point.of(key), let publicKey = try? P256PublicKey(point: point) else {
            unsafe EVP_PKEY_free(key)
            return nil
        }
        unsafe self.key = key
        (self.publicKey, provider) = (publicKey, nil)
    }

    deinit { unsafe EVP_PKEY_free(key) }

    package static func generate() throws(NativeError) -> P256PrivateKey {
        guard let key = unsafe capture_generate_p256(), let made = unsafe P256PrivateKey(owning: key) else {
            throw OpenSSLErrorQueue.drain("EVP_EC_gen")
        }
        return made
    }

    private var isPair: Bool {
        guard let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, key, nil) else { return false }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        let isPair = unsafe EVP_PKEY_pairwise_check(context) == 1
        if !isPair { _ = OpenSSLErrorQueue.drain("EVP_PKEY_pairwise_check") }
        return isPair
    }

    /// Signs `message` with SHA-256. The s of the signature is at most (n − 1)/2.
    package func sign(_ message: [UInt8]) throws(NativeError) -> ECDSASignature {
        guard let provider else {
            return try sign(message, in: nil) { OpenSSLErrorQueue.drain($0) }
        }
        return try provider.turn.withLock { _ throws(NativeError) in
            try PipeSignal.held { () throws(NativeError) in
                try sign(message, in: provider) { call in
                    // The newest entry with details says what the hardware reported; a TPM's begins with its number.
                    let details = OpenSSLErrorQueue.drainEntries().last { !$0.details.isEmpty }?.details
                    let code = details?.pieces(by: " ").first.flatMap { Int32($0) } ?? 0
                    return NativeError(
                        origin: .hardware, call: call, code: code, text: details ?? "it does not sign")
                }
            }
        }
    }

    private func sign(
        _ message: [UInt8], in provider: HardwareProvider?, failure: (String) -> NativeError
    ) throws(NativeError) -> ECDSASignature {
        guard let context = unsafe EVP_MD_CTX_new() else { throw OpenSSLErrorQueue.drain("EVP_MD_CTX_new") }
        defer { unsafe EVP_MD_CTX_free(context) }
        let ready: Int32
        if let provider {
            ready = unsafe EVP_DigestSignInit_ex(context, nil, "SHA256", provider.context, provider.query, key, nil)
        } else {
            ready = unsafe EVP_DigestSignInit(context, nil, Algorithm.sha256, nil, key)
        }
        guard ready == 1 else { throw failure("EVP_DigestSignInit") }
        var der = [UInt8](repeating: 0, count: 80)
        var length = der.count
        let status = unsafe EVP_DigestSign(context, &der, &length, message, message.count)
        guard status == 1, let signature = try ECDSASignature(der: Array(der.prefix(length))) else {
            throw failure("EVP_DigestSign")
        }
        return signature.normalized
    }

    /// The key as PKCS#8 PEM. If there is a passphrase, the PEM is encrypted as the format's specification says.
    package func pem(passphrase: [UInt8]?) throws(NativeError) -> [UInt8] {
        let bio = try MemoryBIO()
        guard let info = unsafe EVP_PKEY2PKCS8(key) else { throw OpenSSLErrorQueue.drain("EVP_PKEY2PKCS8") }
        defer { unsafe PKCS8_PRIV_KEY_INFO_free(info) }
        guard let passphrase else {
            let status = unsafe bio.with { unsafe PEM_write_bio_PKCS8_PRIV_KEY_INFO($0, info) }
            try OpenSSLErrorQueue.require(status == 1, "PEM_write_bio_PKCS8_PRIV_KEY_INFO")
            return bio.contents
        }
        guard let bytes = unsafe encodeDER({ unsafe i2d_PKCS8_PRIV_KEY_INFO(info, $0) }) else {
            throw OpenSSLErrorQueue.drain("i2d_PKCS8_PRIV_KEY_INFO")
        }
        let sealed = try EncryptedPrivateKeyInfo.seal(bytes, passphrase: passphrase)
        let status = unsafe bio.with {
            unsafe PEM_write_bio($0, EncryptedPrivateKeyInfo.label, "", sealed, sealed.count)
        }
        try OpenSSLErrorQueue.require(status > 0, "PEM_write_bio")
        return bio.contents
    }

    /// Loads a key from a PKCS#8 PEM.
    ///
    /// - Throws: `LoadFailure`, `NativeError`.
    package static func load(pem: [UInt8], passphrase: [UInt8]?) throws -> P256PrivateKey {
        let count = PEMText.count("PRIVATE KEY", in: pem)
        guard count < 2 else { throw LoadFailure.severalKeys(count) }
        let (label, contents) = try block(pem)
        let plain: [UInt8]
        switch label {
        case "PRIVATE KEY":
            plain = contents
        case EncryptedPrivateKeyInfo.label:
            if let count = EncryptedPrivateKeyInfo.iterations(contents), count > mostIterations {
                throw LoadFailure.tooManyIterations(count)
            }
            guard let passphrase else { throw LoadFailure.passphraseNeeded }
            guard let opened = try EncryptedPrivateKeyInfo.open(contents, passphrase: passphrase) else {
                throw LoadFailure.wrongPassphrase
            }
            plain = opened
        default:
            throw LoadFailure.damaged
        }
        guard let key = unsafe decodeDER(plain, { unsafe d2i_AutoPrivateKey(nil, $0, $1) }),
            let loaded = unsafe P256PrivateKey(owning: key)
        else {
            _ = OpenSSLErrorQueue.drain("d2i_AutoPrivateKey")
            // A wrong passphrase still gives valid padding once in 256 times, but the decrypted bytes are then not a
            // key.
            throw label == EncryptedPrivateKeyInfo.label ? LoadFailure.wrongPassphrase : .damaged
        }
        // A file can hold a private key with the public half of another key. Signatures by such a key would never
        // verify.
        guard loaded.isPair else { throw LoadFailure.damaged }
        return loaded
    }

    private static func block(_ pem: [UInt8]) throws -> (label: String, contents: [UInt8]) {
        let bio = try MemoryBIO(pem)
        var name: UnsafeMutablePointer<CChar>?
        var header: UnsafeMutablePointer<CChar>?
        var data: UnsafeMutablePointer<UInt8>?
        var count = 0
        guard
            unsafe bio.with({ unsafe PEM_read_bio($0, &name, &header, &data, &count) }) == 1, let label = unsafe name,
            let bytes = unsafe data
        else {
            _ = OpenSSLErrorQueue.drain("PEM_read_bio")
            throw LoadFailure.damaged
        }
        defer {
            unsafe CRYPTO_free(name, nil, 0)
            unsafe CRYPTO_free(header, nil, 0)
            unsafe CRYPTO_clear_free(data, count, nil, 0)
        }
        return unsafe (String(cString: label), [UInt8](UnsafeBufferPointer(start: bytes, count: count)))
    }
}
