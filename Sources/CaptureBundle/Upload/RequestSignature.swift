import CaptureNative
package import SystemPackage

extension BundleError.Code {
    /// The form of a request header violates Spec/upload.md section 2.
    public static let requestHeader = Self("request.header")
    public static let requestSignature = Self("request.signature")
}

/// The three headers that authenticate one attempt of an upload (Spec/upload.md section 2).
public struct RequestSignature: Hashable, Sendable {
    /// The UUID that the server assigned to the device.
    public let deviceID: String
    /// The Unix time in milliseconds, as it is written in the header.
    public let timestamp: String
    /// The DER signature in base64.
    public let signature: String

    /// The headers in the order of the specification.
    public var headers: [(name: String, value: String)] {
        [("X-Device-Id", deviceID), ("X-Device-Timestamp", timestamp), ("X-Device-Signature", signature)]
    }

    static let timestampLimit = 9_007_199_254_740_991

    /// Creates the value from received headers.
    public init(deviceID: String, timestamp: String, signature: String) {
        self.deviceID = deviceID
        self.timestamp = timestamp
        self.signature = signature
    }

    /// Checks the device id and the timestamp against the grammar of Spec/upload.md section 2.
    ///
    /// - Throws: `request.header`.
    package static func check(deviceID: String, timestamp: Int) throws(BundleError) {
        guard Self.isDeviceID(deviceID) else {
            throw BundleError(.requestHeader, "the device id \"\(deviceID)\" is not a UUID (8-4-4-4-12 hex digits)")
        }
        guard (0...Self.timestampLimit).contains(timestamp) else {
            throw BundleError(
                .requestHeader,
                "the timestamp \(timestamp) is not a time in milliseconds from 0 to \(Self.timestampLimit)"
            )
        }
    }

    /// Checks that `device` signed these headers and this body: rules Q1 and Q2. The server decides how old the
    /// timestamp may be and which key belongs to the id.
    ///
    /// - Throws: `request.header`, `request.signature`.
    public func verify(body: Digest, device: DevicePoint) throws(BundleError) {
        guard Self.isDeviceID(deviceID) else { throw BundleError(.requestHeader, "X-Device-Id is not a UUID") }
        guard let value = JSONValue.number(timestamp).integer, String(value) == timestamp else {
            throw BundleError(.requestHeader, "X-Device-Timestamp is not a decimal number of milliseconds")
        }
        let message = Self.message(timestamp: timestamp, body: body)
        let isGood = try native { () throws -> Bool in
            guard let der = Base64.decode(signature), let parsed = try ECDSASignature(der: der) else {
                throw BundleError(.requestHeader, "X-Device-Signature is not the base64 of a DER signature")
            }
            return try P256PublicKey.of(point: device.bytes)?.verifies(parsed, message: message) ?? false
        }
        guard isGood else {
            throw BundleError(.requestSignature, "the signature is not valid for this body and the device's key")
        }
    }

    /// The SHA-256 of all bytes of a source.
    public static func hash(_ source: BundleSource) throws(BundleError) -> Digest { try source.digest() }

    package static func message(timestamp: String, body: Digest) -> [UInt8] { Array("\(timestamp)|\(body)".utf8) }

    /// Whether the text is a UUID in the form that servers assign.
    public static func isDeviceID(_ text: String) -> Bool {
        let groups = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        return groups.map(\.count) == [8, 4, 4, 4, 12]
            && groups.allSatisfy { $0.allSatisfy { Hex.digitOfEitherCase($0) != nil } }
    }
}

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
