import CaptureNative
public import SystemPackage

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

extension DevicePoint {
    /// Whether the bytes are the uncompressed form of a point on P-256.
    static func isOnCurve(_ bytes: [UInt8]) throws(BundleError) -> Bool {
        let key = try native { () throws(NativeError) in try P256PublicKey.of(point: bytes) }
        return key != nil
    }

    /// The public key as SubjectPublicKeyInfo PEM.
    ///
    /// - Throws: `key.damaged` if the point is not on the curve.
    public func pem() throws(BundleError) -> [UInt8] {
        let key = try native { () throws(NativeError) in try P256PublicKey(point: bytes) }
        guard let key else { throw BundleError(.keyDamaged, "the point is not on P-256") }
        return try native { () throws(NativeError) in try key.pem() }
    }
}

extension DevicePoint {
    /// The key as a JSON Web Key (RFC 7517, RFC 7518 section 6.2). Its `kid` is the key id.
    package var jwk: JSONValue {
        .members([
            "alg": .string("ES256"), "crv": .string("P-256"), "kid": .string(keyID.description), "kty": .string("EC"),
            "use": .string("sig"), "x": .string(Base64.encodeURL(Array(bytes[1..<33]))),
            "y": .string(Base64.encodeURL(Array(bytes[33..<65]))),
        ])
    }
}

/// A PEM file with a public key.
public enum PublicKeyFile {
    private static let sizeLimit = 1 << 16

    /// Reads a public key.
    ///
    /// - Parameter path: A file, or `-` for standard input.
    /// - Throws: `input.unreadable`, or `key.damaged` if the file has no public P-256 key.
    public static func point(path: FilePath) throws(BundleError) -> DevicePoint {
        let bytes: [UInt8]
        do {
            let handle = path == "-" ? FileHandle.standardInput : try FileHandle.reading(path)
            bytes = try handle.readAll(limit: sizeLimit)
        } catch {
            // A capture bundle, for example.
            guard error.isTooLarge, let kind = FileKind(file: path) else { throw .reading(path, error) }
            throw BundleError(
                .keyDamaged, "is \(kind.words), expected a PEM file with a public key on P-256", file: path,
                hints: kind.family == .bundle ? [KeyFileKind.taking(from: path)] : [])
        }
        return try point(pem: bytes, name: path.string)
    }

    static func point(pem: [UInt8], name: String) throws(BundleError) -> DevicePoint {
        let key = try native { () throws(NativeError) in try P256PublicKey(pem: pem) }
        guard let key else {
            let other = KeyFileKind(insteadOfAPublicKey: pem, name: name)
            throw BundleError(
                .keyDamaged,
                other.map { "is \($0.words), expected a PEM file with a public key on P-256" }
                    ?? "is not a PEM file with a public key on P-256", file: name,
                hints: other?.hints ?? ["to print one on the device: capbundle key public"])
        }
        return try DevicePoint(bytes: key.point)
    }
}
