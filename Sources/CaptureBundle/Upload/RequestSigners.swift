package import SystemPackage

/// Signs the requests of one device (Spec/upload.md section 2).
package protocol RequestSigner: Sendable {
    /// - Parameters:
    ///   - body: The hash of the whole body as it is sent.
    ///   - timestamp: The Unix time in milliseconds.
    /// - Throws: `request.header` if the id is not a UUID or the time is outside 0 … 2⁵³ − 1.
    func signature(of body: Digest, deviceID: String, timestamp: Int) throws(BundleError) -> RequestSignature
}

/// Signs the requests of one device to a RealityCam server (Spec/upload.md section 6).
package protocol RealityCamRequestSigner: Sendable {
    /// The path of the lock that a sender holds from the reservation of counters to the end of the answer.
    var turnPath: FilePath { get }
    /// Reserves the counters of one request that is sent immediately.
    func reserve(withAssertion: Bool) throws(BundleError) -> (header: UInt32, assertion: UInt32?)
    /// The form of a body whose assertion gets this counter.
    func form(counter: UInt32) -> RealityCamForm
    /// Signs the headers of a request.
    ///
    /// - Parameter body: The SHA-256 of the whole body.
    func sign(
        _ body: Digest, counter: UInt32, deviceID: String, timestamp: Int
    ) throws(BundleError) -> RequestSignature
}

/// Makes the signers for the keys that destinations name. `RequestSigners.keyFiles` in CaptureDevice reads them from
/// files.
public struct RequestSigners: Sendable {
    /// The parameters: the path of the key (nil for the default key) and its passphrase.
    package typealias Device = @Sendable (FilePath?, [UInt8]?) throws -> any RequestSigner
    /// The parameters: the path of the key (nil for the default key), its passphrase, and the app that the server
    /// expects.
    package typealias RealityCam =
        @Sendable (FilePath?, [UInt8]?, String) throws -> any RealityCamRequestSigner

    package let device: Device
    package let realityCam: RealityCam

    package init(device: @escaping Device, realityCam: @escaping RealityCam) {
        (self.device, self.realityCam) = (device, realityCam)
    }

    /// For a program that has no keys. A destination that needs one is blocked.
    public static let none = RequestSigners(
        device: { _, _ in throw missing },
        realityCam: { _, _, _ in throw missing })

    private static var missing: BundleError { BundleError(.keyMissing, "this program has no signing keys") }
}
