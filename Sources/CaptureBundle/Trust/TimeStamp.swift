import CaptureNative
public import SystemPackage

/// A time stamp of a bundle: the bytes of the file beside it (Spec/time-stamps.md section 1). Nothing about them is
/// known before `Verifier` has checked them with the bundle.
public struct TimeStamp: Hashable, Sendable {
    /// At most `sizeLimit` bytes, or one more if there are more.
    public let bytes: [UInt8]

    /// The nonce of the query that it answers, while that is known.
    let nonce: [UInt8]?

    public static let sizeLimit = 65_536

    public init(bytes: [UInt8]) { self.init(bytes, to: nil) }

    /// Creates the answer to a query.
    package init(_ bytes: [UInt8], to query: StampQuery?) {
        self.bytes = Array(bytes.prefix(Self.sizeLimit + 1))
        nonce = query?.nonce
    }

    /// Reads the file beside a bundle; nil if there is none.
    ///
    /// - Throws: `io.failed`; `input.unreadable`, also if it is not a regular file: a pipe could keep the reader
    ///   waiting for ever.
    package static func beside(_ bundle: FilePath) throws(BundleError) -> TimeStamp? {
        let path = path(beside: bundle)
        if FileStatus.isMissing(path) { return nil }
        guard try native({ .reading(path, $0) }, { try FileStatus.of(path).kind }) == .file else {
            throw BundleError(.inputUnreadable, "is not a regular file, expected a time stamp", file: path)
        }
        return try TimeStamp(path: path)
    }

    /// Reads a file. One that is too large is cut, which `Verifier` then finds.
    ///
    /// - Throws: `input.unreadable`.
    public init(path: FilePath) throws(BundleError) {
        var bytes = [UInt8](repeating: 0, count: Self.sizeLimit + 1)
        let count = try native({ .reading(path, $0) }) { try FileHandle.reading(path).read(into: &bytes) }
        self.init(bytes: Array(bytes.prefix(count)))
    }

    /// The place of the time stamp of a bundle.
    public static func path(beside bundle: FilePath) -> FilePath { bundle.adding(".tsr") }
}

/// What a good time stamp says.
public struct StampedTime: Hashable, Sendable {
    /// The time at which the signature existed, rounded up to milliseconds.
    public let time: CaptureTime
    /// The accuracy of the time in milliseconds.
    package let margin: Int
    /// The name of the authority in the trust file, or the file of its certificate.
    public let authority: String
    /// Whether the name of the TSA in the stamp, if there is one, is a name of its signer's certificate.
    let isNamed: Bool

    public var accuracy: Duration { .milliseconds(margin) }

    /// The accuracy behind a time, such as ` ± 1.5 s`; empty if the stamp states none.
    public var accuracyText: String {
        let digits = "\(margin % 1000, 3)"
        return margin == 0 ? "" : " ± \(margin / 1000)\(digits == "000" ? "" : ".\(digits)") s"
    }

    /// The end of the time in which the stamp was made, as Unix time in milliseconds.
    var latest: Int { time.milliseconds + margin }
}

/// The query for a time stamp (Spec/time-stamps.md section 2).
package struct StampQuery {
    /// SHA-256 of `assertion.cbor`.
    package let imprint: Digest
    package let nonce: [UInt8]

    /// Makes a query with a random nonce.
    package init(imprint: Digest) throws(BundleError) {
        self.imprint = imprint
        var nonce = try native { try RandomBytes.make(8) }
        // A first byte from 0x01 to 0x7f makes the nonce a positive INTEGER of 8 bytes.
        nonce[0] = nonce[0] % 0x7f + 1
        self.nonce = nonce
    }

    /// Parses a query that `bytes` gave; nil if it is not one for this imprint.
    package init?(_ bytes: [UInt8], imprint: Digest) {
        guard let nonce = TimeStampRequest.nonce(bytes) else { return nil }
        (self.imprint, self.nonce) = (imprint, nonce)
        guard self.bytes == bytes, nonce.count == 8 else { return nil }
    }

    package var bytes: [UInt8] { TimeStampRequest.der(sha256: imprint.bytes, nonce: nonce) }
}
