public import CaptureBundle
import CaptureNative
import SystemPackage

extension DeviceKey: RequestSigner {
    package func signature(
        of body: Digest, deviceID: String, timestamp: Int
    ) throws(BundleError) -> RequestSignature {
        try RequestSignature(body: body, deviceID: deviceID, timestamp: timestamp, device: self)
    }
}

extension RealityCamSigner: RealityCamRequestSigner {}

extension RequestSigners {
    /// Signers with the key files of this user.
    public static let keyFiles = RequestSigners(
        device: { path, passphrase in
            let path = path ?? DeviceKeyFile.usualPath
            return try named("the device key", at: path) { file in
                try file.load(passphrase.map { .known($0) } ?? .none)
            }
        },
        realityCam: { path, passphrase, rpID in
            let path = path ?? DeviceKeyFile.usualRealityCamPath
            return try named("the RealityCam key", at: path) { file in
                try RealityCamSigner(file, passphrase: passphrase.map { .known($0) } ?? .none, rpID: rpID)
            }
        })

    /// The messages of transports name no file, so the message has to.
    private static func named<Key>(
        _ words: String, at path: FilePath, _ load: (DeviceKeyFile) throws -> Key
    ) throws -> Key {
        let file = DeviceKeyFile(path: path)
        do { return try native { try load(file) } } catch {
            throw BundleError(
                error.code, "\(words) \(file.path): \(error.message)", file: file.path, cause: error.cause,
                values: error.values)
        }
    }
}

extension RequestSignature {
    /// Signs one attempt. This uses no counter.
    ///
    /// ```swift
    /// let device = try DeviceKeyFile(path: DeviceKeyFile.usualPath).load(passphrase: nil)
    /// let signature = try RequestSignature(
    ///     body: RequestSignature.hash(BundleSource(path: "body")), deviceID: id, timestamp: now, device: device)
    /// for (name, value) in signature.headers { request.setHeader(name, value) }
    /// ```
    ///
    /// - Parameters:
    ///   - body: The hash of the whole body as it is sent.
    ///   - timestamp: The Unix time in milliseconds.
    /// - Throws: `request.header` if the id is not a UUID or the time is outside 0 … 2⁵³ − 1.
    public init(body: Digest, deviceID: String, timestamp: Int, device: DeviceKey) throws(BundleError) {
        try Self.check(deviceID: deviceID, timestamp: timestamp)
        let message = Self.message(timestamp: String(timestamp), body: body)
        let made = try native { try device.key.sign(message) }
        self.init(deviceID: deviceID, timestamp: String(timestamp), signature: Base64.encode(made.der))
    }
}
