package import CaptureNative

extension BundleError.Code {
    static let assertionEncoding = Self("assertion.encoding")
    static let assertionDER = Self("assertion.der")
    static let assertionAuthData = Self("assertion.authdata")
    static let assertionFlags = Self("assertion.flags")
    static let assertionLowS = Self("assertion.low_s")
    static let assertionCounter = Self("assertion.counter")
    package static let assertionSignature = Self("assertion.signature")
}

/// The signature over a manifest, in the form of an Apple App Attest assertion (Spec/capture-bundle.md section 9).
package struct Assertion: Sendable {
    package let authenticatorData: AuthenticatorData
    let signature: ECDSASignature

    private static let signatureName = "signature"
    private static let authenticatorDataName = "authenticatorData"

    /// Signs a manifest with a disk key.
    package init(signing manifest: [UInt8], key: P256PrivateKey, counter: UInt32) throws(BundleError) {
        authenticatorData = AuthenticatorData(diskKeyCounter: counter)
        let nonce = try SigningInput.nonce(
            authenticatorData: authenticatorData.bytes, clientData: SigningInput.clientData(manifest: manifest))
        signature = try native { try key.sign(nonce) }
    }

    /// Signs client data in the form that RealityCam checks (Spec/upload.md section 6.2): the message is hashed once. For
    /// the assertion of a bundle it is hashed twice.
    package init(
        realityCam clientData: [UInt8], authenticatorData: AuthenticatorData, key: P256PrivateKey
    ) throws(BundleError) {
        self.authenticatorData = authenticatorData
        let message = authenticatorData.bytes + (try Digest.of(clientData).bytes)
        signature = try native { try key.sign(message) }
    }

    /// Whether `key` made this signature over `clientData` in the form that RealityCam checks.
    package func verifies(realityCam clientData: [UInt8], key: P256PublicKey) throws(BundleError) -> Bool {
        let message = authenticatorData.bytes + (try Digest.of(clientData).bytes)
        return try native { try key.verifies(signature, message: message) }
    }

    /// Parses `assertion.cbor`; `faults` then checks the remaining rules.
    ///
    /// - Throws: An error if A1 or A2 is violated or the authenticator data is too short (A3).
    package init(decoding bytes: [UInt8]) throws(BundleError) {
        var reader = CBORReader(bytes)
        guard reader.head(.map) == 2, reader.text() == Self.signatureName, let der = reader.byteString(),
            reader.text() == Self.authenticatorDataName, let data = reader.byteString(), reader.isAtEnd
        else {
            throw BundleError(.assertionEncoding, "is not the CBOR map with signature and authenticatorData")
        }
        guard let signature = try (native { try ECDSASignature(der: der) }) else {
            throw BundleError(.assertionDER, "the signature is not DER with two integers in the allowed range")
        }
        self.signature = signature
        authenticatorData = try AuthenticatorData(data)
    }

    /// The violations of the rules for the kind of key: A3 to A6.
    var faults: [BundleError] {
        var faults = authenticatorData.faults
        if authenticatorData.kind == .diskKey && !signature.isLowS {
            faults.append(BundleError(.assertionLowS, "the signature's s is above half the group order"))
        }
        return faults
    }

    /// The bytes of `assertion.cbor`.
    package func encode() -> [UInt8] {
        let der = signature.der
        let data = authenticatorData.bytes
        return CBORReader.encodeHead(.map, 2)
            + CBORReader.encodeHead(.text, Self.signatureName.utf8.count) + Self.signatureName.utf8
            + CBORReader.encodeHead(.bytes, der.count) + der
            + CBORReader.encodeHead(.text, Self.authenticatorDataName.utf8.count) + Self.authenticatorDataName.utf8
            + CBORReader.encodeHead(.bytes, data.count) + data
    }

    /// Whether the device signed the manifest with this assertion: rules A3 to A7.
    package func isValid(for manifest: [UInt8], of device: DevicePoint) throws(BundleError) -> Bool {
        guard let key = try (native { try P256PublicKey(point: device.bytes) }), faults.isEmpty else { return false }
        return try verifies(clientData: SigningInput.clientData(manifest: manifest), key: key)
    }

    /// Whether `key` made the signature over `clientData` and the authenticator data: rule A7.
    package func verifies(clientData: [UInt8], key: P256PublicKey) throws(BundleError) -> Bool {
        let nonce = try SigningInput.nonce(authenticatorData: authenticatorData.bytes, clientData: clientData)
        return try native { try key.verifies(signature, message: nonce) }
    }
}

/// The data that the signer adds to the signature: the app's identity, the flags and the counter
/// (Spec/capture-bundle.md section 9).
public struct AuthenticatorData: Hashable, Sendable {
    public enum Kind: Sendable { case diskKey, apple }

    /// The bytes that the signature covers.
    package let bytes: [UInt8]
    public var rpIDHash: Digest { Digest(bytes: Array(bytes[..<32])) }
    public var flags: UInt8 { bytes[32] }
    public var counter: UInt32 { bytes[33..<Self.length].reduce(0) { $0 << 8 | UInt32($1) } }

    static let length = 37

    public var kind: Kind { rpIDHash == Self.diskKeyHash ? .diskKey : .apple }

    /// SHA-256 of `capture-bundle.device-key`, as a constant because computing it could fail.
    static let diskKeyHash = Digest(bytes: [
        0x7e, 0x49, 0xcb, 0x9f, 0x87, 0x6c, 0x7a, 0xa7, 0x6f, 0x4b, 0x48, 0x95, 0x53, 0xc5, 0x4d, 0x38,
        0xda, 0xed, 0xf3, 0xa8, 0x7d, 0x31, 0x62, 0xe7, 0xd1, 0x42, 0x34, 0x71, 0x2e, 0x8a, 0x9c, 0xcb,
    ])

    package init(diskKeyCounter counter: UInt32) { self.init(rpIDHash: Self.diskKeyHash, flags: 0, counter: counter) }

    package init(rpIDHash: Digest, flags: UInt8, counter: UInt32) {
        let number = (0..<4).map { UInt8(truncatingIfNeeded: counter >> (24 - 8 * UInt32($0))) }
        bytes = rpIDHash.bytes + [flags] + number
    }

    /// Parses the bytes; `faults` then checks their values.
    ///
    /// - Throws: `assertion.authdata` if there are too few bytes.
    package init(_ bytes: [UInt8]) throws(BundleError) {
        guard bytes.count >= Self.length else {
            throw BundleError(.assertionAuthData, "authenticatorData has \(bytes.count) bytes, expected \(Self.length)")
        }
        self.bytes = bytes
    }

    /// The violations of the rules for the kind of key: A3, A4 and A6.
    var faults: [BundleError] {
        var faults: [BundleError] = []
        let rest = Array(bytes[Self.length...])
        let expected: UInt8 = kind == .diskKey ? 0x00 : 0x40
        if !rest.isEmpty && (kind == .diskKey || !Self.isAppleMap(rest)) {
            faults.append(
                BundleError(
                    .assertionAuthData, "authenticatorData has \(rest.count) unexpected bytes after the first 37")
            )
        }
        if flags != expected {
            let message = "flags are 0x\(Hex.encode([flags])), expected 0x\(Hex.encode([expected]))"
            faults.append(BundleError(.assertionFlags, message))
        }
        if kind == .diskKey && counter == 0 {
            faults.append(BundleError(.assertionCounter, "the counter is 0, but a disk key counts from 1"))
        }
        return faults
    }

    /// Whether the bytes are the map that iOS 27 adds: one or both of two known members, in either order.
    private static func isAppleMap(_ bytes: [UInt8]) -> Bool {
        var reader = CBORReader(bytes)
        guard let count = reader.head(.map), (1...2).contains(count) else { return false }
        var names: Set<[UInt8]> = []
        for _ in 0..<count {
            guard let name = reader.text(), names.insert(Array(name.utf8)).inserted else { return false }
            switch name {
            case "apple_validation_category_01": if reader.byteString() == nil { return false }
            case "apple_bundle_version_01": if reader.text() == nil { return false }
            default: return false
            }
        }
        return reader.isAtEnd
    }
}

/// Reads the subset of CBOR (RFC 8949) that assertions use: shortest heads and definite lengths only.
struct CBORReader {
    enum Major: UInt8 { case bytes = 2, text = 3, map = 5 }

    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { position == bytes.count }

    /// Reads a head of the given type and returns its argument; nil if the head has another type or is not the shortest
    /// form.
    mutating func head(_ major: Major) -> Int? {
        guard position < bytes.count, bytes[position] >> 5 == major.rawValue else { return nil }
        // 24 means one more byte, 25 two. No value here is longer than 65,535 bytes, so a longer head is never the
        // shortest form.
        let short = Int(bytes[position] & 31)
        let extra = max(0, short - 23)
        guard extra <= 2, position + 1 + extra <= bytes.count else { return nil }
        let more = bytes[(position + 1)..<(position + 1 + extra)].reduce(0) { $0 << 8 | Int($1) }
        let value = extra == 0 ? short : more
        guard value >= [0, 24, 256][extra] else { return nil }
        position += 1 + extra
        return value
    }

    mutating func byteString() -> [UInt8]? { head(.bytes).flatMap { read($0) } }

    mutating func text() -> String? {
        guard let count = head(.text), let bytes = read(count) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    private mutating func read(_ count: Int) -> [UInt8]? {
        guard bytes.count - position >= count else { return nil }
        defer { position += count }
        return Array(bytes[position..<(position + count)])
    }

    /// The shortest encoding of a head.
    static func encodeHead(_ major: Major, _ value: Int) -> [UInt8] {
        let type = major.rawValue << 5
        switch value {
        case ..<24: return [type | UInt8(value)]
        case ..<256: return [type | 24, UInt8(value)]
        default: return [type | 25, UInt8(truncatingIfNeeded: value >> 8), UInt8(value & 255)]
        }
    }
}
