package import CaptureBundle
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
        case missing(library: String, package: String)
        /// The decoder took too long and was killed.
        case late
        /// The decoder ended before it had decoded the file.
        case died
        /// `capbundle-decode` was not found, could not be started, or is of another version.
        case noDecoder
    }

    package let kind: Kind
    package let message: String
    package var hints: [Hint] = []

    package init(_ kind: Kind, _ message: String, hints: [Hint] = []) {
        self.kind = kind
        self.message = message
        self.hints = hints
    }

    /// The error about a file of a raw capture: `decoder.missing`, or `code` if the file is wrong.
    package func error(_ file: FilePath, code: BundleError.Code = .rawCapture) -> BundleError {
        BundleError(kind.isInstallation ? .decoderMissing : code, message, file: file, hints: hints)
    }
}

extension PictureFailure.Kind {
    /// Whether the cause is a program or library that is missing on this machine, and not the file.
    package var isInstallation: Bool {
        switch self {
        case .missing, .noDecoder: true
        default: false
        }
    }
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
                .unsupported, parts.last ?? text, hints: [.raw(.chooseChannel(parts.first ?? ""))])
        case .tooLarge: self.init(.tooLarge, text)
        case .needsAllMemory: self.init(.needsAllMemory, text)
        case .noSandbox:
            self.init(
                .noDecoder, "cannot be decoded safely: the kernel refused the sandbox of capbundle-decode (\(text))",
                hints: ["use a kernel with seccomp, outside of containers that forbid it"])
        case .missing:
            let words = text.pieces(by: " ")
            let (library, package) = (words.first ?? "", words.last ?? "")
            self.init(
                .missing(library: library, package: package),
                "needs the library \(library), which is not installed",
                hints: ["install it: sudo apt-get install \(package)"])
        }
    }
}
