public import CaptureBundle
import PictureMessages
package import SystemPackage

/// Why a picture was not decoded. `message` continues a sentence that begins with the name of the file.
package struct PictureFailure: Error, Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// The file breaks its format's rules or ends early.
        case malformed
        /// The file is intact, but of a kind that is not supported.
        case unsupported
        case tooLarge
        /// The file needs more memory than one of several decoders gets. `PictureDecoder` then decodes it alone.
        case needsAllMemory
        /// A shared library is not installed.
        case missing
        /// The decoder took too long and was killed.
        case late
        /// The decoder ended before it had decoded the file.
        case died
        /// `capbundle-decode` was not found, could not be started, or is of another version.
        case noDecoder

        /// Whether the cause is a program or library that is missing on this machine, and not the file.
        package var isInstallation: Bool { self == .missing || self == .noDecoder }
    }

    package let kind: Kind
    package let message: String
    private let cause: BundleError.Cause?
    private let values: [String]

    package init(_ kind: Kind, _ message: String, cause: BundleError.Cause? = nil, values: [String] = []) {
        self.kind = kind
        self.message = message
        self.cause = cause
        self.values = values
    }

    /// The error about a file of a raw capture: `decoder.missing`, or `code` if the file is wrong.
    package func error(
        _ file: FilePath, entry: EntryPath? = nil, code: BundleError.Code = .rawCapture
    ) -> BundleError {
        BundleError(
            kind.isInstallation ? .decoderMissing : code, message, file: file, entry: entry?.description, cause: cause,
            values: values)
    }
}

extension BundleError.Cause {
    /// An archive has a link or a special file.
    public static let archiveLink = Self("archive.link")
    /// The value is the channel that probably is the depth map, or empty.
    public static let severalChannels = Self("channels.several")
    /// Why `decoder.missing`, unless the program is missing: the value of `missingLibrary` is a Debian package.
    public static let missingLibrary = Self("library.missing")
    public static let noSandbox = Self("sandbox.refused")
    public static let otherVersion = Self("release.other")
}

extension PictureFailure {
    /// Creates the failure for a refusal that the decoder sent.
    init(refusal: PicturePart.Refusal, _ text: String) {
        switch refusal {
        case .malformed: self.init(.malformed, text)
        case .unsupported: self.init(.unsupported, text)
        case .channels:
            let parts = text.pieces(by: "\n", limit: 2, keepsEmpty: true)
            self.init(
                .unsupported, parts.last ?? text, cause: .severalChannels, values: [parts.first ?? ""])
        case .tooLarge: self.init(.tooLarge, text)
        case .needsAllMemory: self.init(.needsAllMemory, text)
        case .noSandbox:
            self.init(
                .noDecoder, "cannot be decoded safely: the kernel refused the sandbox of capbundle-decode (\(text))",
                cause: .noSandbox)
        case .missing:
            let words = text.pieces(by: " ")
            self.init(
                .missing, "needs the library \(words.first ?? ""), which is not installed", cause: .missingLibrary,
                values: words.suffix(1))
        }
    }
}

extension PictureFailure {
    package static func malformed(_ message: String) -> PictureFailure { PictureFailure(.malformed, message) }

    /// The failure for a side of 0 or one above the limit.
    package static func side(_ width: Int, _ height: Int) -> PictureFailure {
        malformed("has \(width)x\(height) samples, expected sides of 1 to \(BundleLimits.depthSide)")
    }

    /// The failure for too few or too many bytes of samples.
    package static func length(_ count: Int, _ size: DepthSize, sample: Int) -> PictureFailure {
        let expected = sample * size.width * size.height
        return malformed("has \(count) bytes of samples, expected \(expected) for \(size) samples of \(sample) bytes")
    }
}
