import COpenSSL
import Synchronization
import SystemPackage

/// Why a key in hardware cannot be used.
package enum HardwareKeyFailure: Error {
    case noProvider, noModule, noPINFile, noTPM, noHandle
    /// Nothing fits the URI: no token, no key, or no key as far as one can see without the right PIN.
    case noToken, noKey, noKeyOrWrongPIN
    case pinNeeded, wrongPIN
    /// The TPM refuses each PIN for a while.
    case locked
    case severalKeys(Int)
    /// This number of tokens has a key that fits the URI. Each of them would get the PIN, and count a wrong one.
    case severalTokens(Int)
    /// No token shows such a key without a PIN, and the URI names no token, so that each one would get the PIN.
    case noTokenNamed
    /// The URI asks for another type of object, such as `public`.
    case anotherType(String)
    /// The point of the private key is unknown: a token has it only in the public key with the same id.
    case noPublicHalf
    /// The key is not on P-256: its kind, such as "RSA, 2048 bits".
    case anotherKind(String)
    /// The key does not sign.
    case refused(String)
    case native(NativeError)
}

/// An OpenSSL library context of its own, with the provider of one kind of key. Keys in files use the default context,
/// which loads no such provider: pkcs11-provider in that context crashes when the process ends.
///
/// It is `@unchecked Sendable` because C pointers are never `Sendable`. Keys of the context are used by one thread at a
/// time, in `turn`: hardware signs one message after the other, and not all providers allow more.
@safe
final class HardwareProvider: @unchecked Sendable {
    let context: OpaquePointer
    /// Selects the provider's algorithms. tpm2 needs it; otherwise OpenSSL looks for the private key in memory.
    let query: String
    let turn = Mutex<Void>(())
    private let defaults: OpaquePointer?
    private let hardware: OpaquePointer?

    init(_ kind: HardwareKeyURI.Kind) throws(HardwareKeyFailure) {
        guard let context = unsafe OSSL_LIB_CTX_new() else {
            throw .native(OpenSSLErrorQueue.drain("OSSL_LIB_CTX_new"))
        }
        unsafe self.context = context
        unsafe defaults = OSSL_PROVIDER_load(context, "default")
        unsafe hardware = PipeSignal.held { unsafe OSSL_PROVIDER_load(context, kind.provider) }
        query = "?provider=\(kind.provider)"
        guard unsafe defaults != nil, unsafe hardware != nil else {
            // The tpm2 provider connects to the TPM when it is loaded.
            let isThere = !OpenSSLErrorQueue.drainEntries().contains { $0.details.hasPrefix("filename(") }
            throw kind == .tpm && isThere ? .noTPM : .noProvider
        }
    }

    deinit {
        PipeSignal.held {
            if let provider = unsafe hardware { unsafe OSSL_PROVIDER_unload(provider) }
            if let provider = unsafe defaults { unsafe OSSL_PROVIDER_unload(provider) }
            unsafe OSSL_LIB_CTX_free(context)
        }
    }

    /// Finds keys.
    ///
    /// - Parameter type: `OSSL_STORE_INFO_PKEY` or `OSSL_STORE_INFO_PUBKEY`.
    func find(_ uri: String, type: Int32, pin: PINSource) throws(HardwareKeyFailure) -> [FoundKey] {
        try PipeSignal.held { () throws(HardwareKeyFailure) in try search(uri, type: type, pin: pin) }
    }

    private func search(_ uri: String, type: Int32, pin: PINSource) throws(HardwareKeyFailure) -> [FoundKey] {
        guard
            let method = unsafe UI_UTIL_wrap_read_pem_callback(
                { buffer, size, _, source in
                    guard let buffer = unsafe buffer, let source = unsafe source else { return 0 }
                    return unsafe Unmanaged<PINSource>.fromOpaque(source).takeUnretainedValue().write(to: buffer, size)
                }, 0)
        else { throw .native(OpenSSLErrorQueue.drain("UI_UTIL_wrap_read_pem_callback")) }
        defer { unsafe UI_destroy_method(method) }
        return try withExtendedLifetime(pin) { () throws(HardwareKeyFailure) in
            let data = unsafe Unmanaged.passUnretained(pin).toOpaque()
            guard let store = unsafe OSSL_STORE_open_ex(uri, context, query, method, data, nil, nil, nil) else {
                let entries = OpenSSLErrorQueue.drainEntries()
                if query.hasSuffix("tpm2") { throw .noHandle }
                throw entries.contains { $0.details.hasPrefix("calling fopen(") } ? .noPINFile : .noModule
            }
            defer {
                unsafe OSSL_STORE_close(store)
                _ = OpenSSLErrorQueue.drain("OSSL_STORE_load")
            }
            unsafe OSSL_STORE_expect(store, type)
            var keys: [FoundKey] = []
            while unsafe OSSL_STORE_eof(store) == 0 {
                guard let info = unsafe OSSL_STORE_load(store) else {
                    if unsafe OSSL_STORE_error(store) == 1 { break }
                    continue
                }
                defer { unsafe OSSL_STORE_INFO_free(info) }
                if let key = unsafe FoundKey(info, type, in: self) { keys.append(key) }
            }
            return keys
        }
    }
}

/// A key that was found in hardware: the private key, or the public half.
@safe
final class FoundKey {
    let key: OpaquePointer
    /// It has to live longer than the key.
    let provider: HardwareProvider

    /// Takes ownership of the key in `info`; nil if that is another object.
    init?(_ info: OpaquePointer, _ type: Int32, in provider: HardwareProvider) {
        guard unsafe OSSL_STORE_INFO_get_type(info) == type else { return nil }
        let isPrivate = type == OSSL_STORE_INFO_PKEY
        guard let key = unsafe isPrivate ? OSSL_STORE_INFO_get1_PKEY(info) : OSSL_STORE_INFO_get1_PUBKEY(info) else {
            return nil
        }
        unsafe self.key = key
        self.provider = provider
    }

    deinit { unsafe EVP_PKEY_free(key) }

    /// The public point in 65 bytes.
    func point() throws(HardwareKeyFailure) -> [UInt8] {
        // A token's key need not have parameters that OpenSSL can read, but each provider encodes the public key.
        guard let bytes = unsafe encodeDER({ unsafe i2d_PUBKEY(key, $0) }) else {
            _ = OpenSSLErrorQueue.drain("i2d_PUBKEY")
            throw .noPublicHalf
        }
        let head = Self.p256Head
        guard bytes.count == head.count + 65, bytes.starts(with: head) else { throw .anotherKind(kind) }
        return Array(bytes.dropFirst(head.count))
    }

    /// The URI that the provider prints with the key; nil if it prints none.
    var uri: HardwareKeyURI? {
        guard let bio = try? MemoryBIO() else { return nil }
        _ = unsafe bio.with { unsafe EVP_PKEY_print_public($0, key, 0, nil) }
        _ = OpenSSLErrorQueue.drain("EVP_PKEY_print_public")
        let lines = String(decoding: bio.contents, as: UTF8.self).pieces(by: "\n")
        return lines.compactMap { $0.rest(after: "URI ") }.first.flatMap { HardwareKeyURI(FilePath($0)) }
    }

    /// SubjectPublicKeyInfo of a key on P-256 before its point (RFC 5480).
    private static let p256Head: [UInt8] = [
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48,
        0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
    ]

    private var kind: String {
        let type = unsafe EVP_PKEY_get0_type_name(key).map { unsafe String(cString: $0) } ?? "unknown"
        var name = [CChar](repeating: 0, count: 64)
        let isNamed = unsafe EVP_PKEY_get_group_name(key, &name, name.count, nil)
        _ = OpenSSLErrorQueue.drain("EVP_PKEY_get_group_name")
        let group = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return "\(type), \(isNamed == 1 ? group : "\(unsafe EVP_PKEY_get_bits(key)) bits")"
    }
}

/// Answers OpenSSL's questions for a PIN, and remembers whether there were any.
final class PINSource {
    private let ask: () -> [UInt8]?
    private var answer: [UInt8]?
    private(set) var questions = 0
    var wasAsked: Bool { questions > 0 }
    var wasGiven: Bool { !(answer ?? []).isEmpty }

    init(_ ask: @escaping () -> [UInt8]?) { self.ask = ask }

    /// Writes the PIN, and returns its length. Without a PIN that is 0: after a failure, pkcs11-provider would ask on the
    /// terminal itself.
    func write(to buffer: UnsafeMutablePointer<CChar>, _ size: Int32) -> Int32 {
        if !wasAsked { answer = ask() }
        questions += 1
        guard let answer, answer.count < size else { return 0 }
        for (index, byte) in answer.enumerated() { unsafe buffer[index] = CChar(bitPattern: byte) }
        return Int32(answer.count)
    }
}

extension P256PrivateKey {
    /// Finds a key in hardware, and makes a signature for a trial: nothing else shows whether a TPM accepts the PIN.
    ///
    /// - Parameter pin: Called at most once, if a PIN is needed that the URI does not have; nil if there is none.
    package static func open(
        _ uri: HardwareKeyURI, pin: @escaping () -> [UInt8]?
    ) throws(HardwareKeyFailure) -> P256PrivateKey {
        if let type = uri.otherType { throw .anotherType(type) }
        let place = try uri.kind == .token ? inOneToken(uri) : uri.text
        let source = PINSource(pin)
        let keys = try HardwareProvider(uri.kind).find(place, type: OSSL_STORE_INFO_PKEY, pin: source)
        guard let found = keys.first else { throw try missing(uri, source) }
        guard keys.count == 1 else { throw .severalKeys(keys.count) }
        let point = try found.point()
        let publicKey: P256PublicKey?
        do { publicKey = try P256PublicKey(point: point) } catch { throw .refused("its point cannot be loaded") }
        guard let publicKey else { throw .refused("its point is not on the curve") }
        // Each trial without the right PIN counts, and a TPM locks itself after a few of them.
        if source.wasAsked && !source.wasGiven { throw .pinNeeded }
        let key = P256PrivateKey(found, publicKey)
        try key.signForTrial(source.wasGiven)
        return key
    }

    /// The URI with all facts of the token that has the key: a provider sends the PIN to each token that fits.
    private static func inOneToken(_ uri: HardwareKeyURI) throws(HardwareKeyFailure) -> String {
        let source = PINSource { nil }
        let found = try HardwareProvider(uri.kind).find(uri.ofPublicHalf, type: OSSL_STORE_INFO_PUBKEY, pin: source)
        let tokens = Set(found.compactMap(\.uri).map(\.token))
        guard tokens.count < 2 else { throw .severalTokens(tokens.count) }
        if let token = tokens.first { return uri.text(in: token) }
        // A provider asks for a PIN only if no token shows the key.
        guard !source.wasAsked || uri.namesToken else { throw .noTokenNamed }
        return uri.text
    }

    private func signForTrial(_ hasPIN: Bool) throws(HardwareKeyFailure) {
        let message = Array("capture-bundle trial signature".utf8)
        do throws(NativeError) {
            guard try publicKey.verifies(sign(message), message: message) else {
                throw NativeError(origin: .hardware, call: "", code: 0, text: "its signature does not verify")
            }
        } catch {
            // TPM 2.0 part 2, section 6.6: TPM_RC_LOCKOUT, TPM_RC_AUTH_FAIL and TPM_RC_BAD_AUTH for any session.
            if error.code == 0x921 { throw .locked }
            guard [0x8e, 0xa2].contains(error.code & 0xbf), error.code < 0x1000 else { throw .refused(error.text) }
            throw hasPIN ? .wrongPIN : .pinNeeded
        }
    }

    /// Returns the reason why no private key was found. A token reports neither a wrong PIN nor a missing key. But a new
    /// provider, which is not logged in, asks for the PIN of a token in which it finds no public key.
    private static func missing(
        _ uri: HardwareKeyURI, _ asked: PINSource
    ) throws(HardwareKeyFailure) -> HardwareKeyFailure {
        if uri.kind == .tpm { return .noKey }
        let source = PINSource { nil }
        let keys = try HardwareProvider(uri.kind).find(uri.ofPublicHalf, type: OSSL_STORE_INFO_PUBKEY, pin: source)
        let hasPIN = asked.wasGiven || uri.hasPIN
        if keys.isEmpty { return !source.wasAsked ? .noToken : hasPIN ? .noKeyOrWrongPIN : .pinNeeded }
        return hasPIN ? .wrongPIN : .pinNeeded
    }
}

extension P256PublicKey {
    /// The public half of a key in hardware; nil if it cannot be seen without the PIN.
    package static func find(_ uri: HardwareKeyURI) throws(HardwareKeyFailure) -> P256PublicKey? {
        let type = uri.kind == .token ? OSSL_STORE_INFO_PUBKEY : OSSL_STORE_INFO_PKEY
        let keys = try HardwareProvider(uri.kind).find(uri.ofPublicHalf, type: type, pin: PINSource { nil })
        return keys.count == 1 ? try? P256PublicKey(point: keys[0].point()) : nil
    }
}
