import CaptureBundle
package import PictureClient
import SystemPackage

extension BundleError {
    /// Advice about the program that decodes pictures and archives, or what it refuses.
    var adviceOnPictures: [String] { adviceOnDecoder + adviceOnUnpacking }

    private var adviceOnDecoder: [String] {
        switch cause {
        case .archiveLink: ["unpack it, check its files, and pack the folder"]
        case .severalChannels:
            values.map { "to take one: --depth-channel \($0.isEmpty ? "NAME" : ShellWord.quote($0))" }
        case .missingLibrary: values.prefix(1).map { "install it: sudo apt-get install \($0)" }
        case .noSandbox: ["use a kernel with seccomp, outside of containers that forbid it"]
        case .otherVersion: ["install both from the same release"]
        default:
            code == .decoderMissing
                ? ["install capbundle-decode, or set the environment variable CAPBUNDLE_DECODE to its path"] : []
        }
    }

    /// The last value is the format of a compressed file in which no file was found: it may be something else than an
    /// archive.
    private var adviceOnUnpacking: [String] {
        guard code == .rawArchive || code == .decoderMissing, let file,
            let format = values.last.flatMap({ FileKind.Format(rawValue: $0) })
        else { return [] }
        return [FileKind.unpacking(FilePath(file), format)]
    }
}

extension PictureFailure {
    package var advice: [String] { error("").advice }
}
