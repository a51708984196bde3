/// The data that the signer adds to the signature: the app's identity, the flags and the counter
/// (Spec/capture-bundle.md section 9).
public struct AuthenticatorData: Hashable, Sendable {
    public enum Kind: Sendable { case diskKey, apple }

    /// The bytes that the signature covers.
    package let bytes: [UInt8]
    public let rpIDHash: Digest
    public let flags: UInt8
    public let counter: UInt32

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
        self.rpIDHash = rpIDHash
        self.flags = flags
        self.counter = counter
    }

    /// Parses the bytes; `faults` then checks their values.
    ///
    /// - Throws: `assertion.authdata` if there are too few bytes.
    package init(_ bytes: [UInt8]) throws(BundleError) {
        guard bytes.count >= Self.length else {
            throw BundleError(.assertionAuthData, "authenticatorData has \(bytes.count) bytes, expected \(Self.length)")
        }
        self.bytes = bytes
        rpIDHash = Digest(bytes: Array(bytes[..<32]))
        flags = bytes[32]
        counter = bytes[33..<Self.length].reduce(0) { $0 << 8 | UInt32($1) }
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
