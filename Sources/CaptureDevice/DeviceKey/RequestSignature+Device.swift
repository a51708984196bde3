public import CaptureBundle
import CaptureNative

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
