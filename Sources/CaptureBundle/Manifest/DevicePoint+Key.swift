import CaptureNative

extension DevicePoint {
    /// Whether the bytes are the uncompressed form of a point on P-256.
    static func isOnCurve(_ bytes: [UInt8]) throws(BundleError) -> Bool {
        let key = try native { try P256PublicKey.of(point: bytes) }
        return key != nil
    }

    /// The public key as SubjectPublicKeyInfo PEM.
    ///
    /// - Throws: `key.damaged` if the point is not on the curve.
    public func pem() throws(BundleError) -> [UInt8] {
        let key = try native { try P256PublicKey(point: bytes) }
        guard let key else { throw BundleError(.keyDamaged, "the point is not on P-256") }
        return try native { try key.pem() }
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

/// Decodes a key from a JSON Web Key, as `jwk` makes it. A point that is not on the curve is refused.
extension DevicePoint: Decodable {
    private enum Member: String, CodingKey { case kty, crv, x, y }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Member.self)
        let coordinates = try [Member.x, .y].map { Base64.decodeURL(try members.decode(String.self, forKey: $0)) ?? [] }
        let bytes = [0x04] + coordinates.joined()
        guard try members.decode(String.self, forKey: .kty) == "EC",
            try members.decode(String.self, forKey: .crv) == "P-256", coordinates.allSatisfy({ $0.count == 32 }),
            try Self.isOnCurve(bytes)
        else { throw DecodingError.dataCorruptedError(forKey: .x, in: members, debugDescription: "not a P-256 key") }
        try self.init(bytes: bytes)
    }
}
