public import CaptureBundle
import CaptureNative
import SystemPackage

/// The state that a disk key keeps between signatures: `device.key.state` (Spec/capture-bundle.md section 9.2).
package struct DeviceKeyState: Equatable, Sendable {
    package let keyID: Digest
    /// The last counter that was used; 0 before the first signature.
    package var counter: UInt32
    /// The secret of 32 bytes that prevents guessing positions from their hashes.
    package let salt: [UInt8]
    package var chain = ChainRecord()
    /// The last counter of a request header, for a key that signs for RealityCam (Spec/upload.md section 6.4); nil for
    /// any other key.
    package var realityCamHeader: UInt32?

    private static let firstLine = "capture-bundle-key-state 1"

    private static let realityCam = "realitycam"

    package func encode() throws(BundleError) -> [UInt8] {
        let lines =
            [
                Self.firstLine, "key \(keyID)", "counter \(counter)", "salt \(Hex.encode(salt))",
            ]
            + chain.lines
            + (realityCamHeader.map { ["\(Self.realityCam) \($0)"] } ?? [])
        let body = Array(lines.map { $0 + "\n" }.joined().utf8)
        return body + Array("sha256 \(try Digest.of(body))\n".utf8)
    }

    /// Parses a state; nil if the bytes differ from what `encode` writes.
    package static func decode(_ bytes: [UInt8]) throws(BundleError) -> DeviceKeyState? {
        guard let text = String(validating: bytes, as: UTF8.self) else { return nil }
        var lines = text.pieces(by: "\n", keepsEmpty: true)
        let fields = lines.map { $0.pieces(by: " ", keepsEmpty: true) }
        guard fields.count >= 7, fields[1].count == 2, fields[2].count == 2, fields[3].count == 2,
            let keyID = Digest(hex: fields[1][1]), let counter = UInt32(fields[2][1]),
            let salt = Digest(hex: fields[3][1])
        else { return nil }
        var state = DeviceKeyState(keyID: keyID, counter: counter, salt: salt.bytes)
        // The lines before the chain, and the checksum with the empty text after its line end.
        lines.removeFirst(4)
        lines.removeLast(2)
        if let last = fields[fields.count - 3].first, last == Self.realityCam {
            guard let header = UInt32(fields[fields.count - 3].dropFirst().first ?? ""), header <= counter else {
                return nil
            }
            state.realityCamHeader = header
            lines.removeLast()
        }
        guard let chain = ChainRecord(lines, counter: counter) else { return nil }
        state.chain = chain
        // Encoding the result again checks the words, the order and the checksum in one comparison.
        return try state.encode() == bytes ? state : nil
    }
}

/// A device key in memory, ready to sign.
public struct DeviceKey: Sendable {
    let key: P256PrivateKey
    public let point: DevicePoint

    init(_ key: P256PrivateKey) throws(BundleError) {
        self.key = key
        point = try DevicePoint(bytes: key.publicKey.point)
    }

    /// The public key as SubjectPublicKeyInfo PEM.
    public func publicPEM() throws(BundleError) -> [UInt8] { try point.pem() }
}

extension BundleError.Cause {
    public static let noDeviceKey = Self("device.none")
    public static let passphraseNeeded = Self("device.passphrase")
    /// A file with a name of the new key exists: a key, a state with which a key signed, or another file.
    public static let keyExists = Self("device.exists")
    public static let usedStateExists = Self("device.exists.state")
    public static let keyNameTaken = Self("device.exists.name")
    public static let severalNames = Self("device.names")
    /// The key signs only for RealityCam, or only bundles.
    public static let forRealityCam = Self("device.realitycam")
    public static let forBundles = Self("device.bundles")

    // The value is the path of the key to which the file belongs.
    public static let halfLost = Self("device.half.lost")
    public static let otherHalf = Self("device.half.other")
    public static let otherState = Self("device.state.other")
    public static let counterLost = Self("device.counter.lost")
    /// A key in hardware has no state, since it never signed on this machine, or the state was lost.
    public static let counterNotHere = Self("device.counter.none")
    public static let linkLost = Self("device.link.lost")
}
