/// The limits that the tools and `capbundle-decode` share.
package enum PictureLimits {
    /// The maximum number of samples or pixels on one side.
    package static let side = 1 << 14
    package static let fileBytes = 1 << 28
    /// The maximum number of bytes of decoded samples or pixels.
    package static let decodedBytes = 1 << 28
    /// The maximum number of bytes of memory that all decoders of a tool use for pictures at the same time.
    package static let memoryBytes = 1 << 29
    /// The part of it that a decoder uses while others work too. A picture that needs more is decoded alone.
    package static let memoryShare = 1 << 26
    /// The maximum number of bytes of a block of metadata inside a file (EXIF, XMP).
    package static let metadataBytes = 1 << 24
    package static let messageBytes = 1 << 12
    /// The maximum number of bytes of the name of a channel.
    package static let channelBytes = 255

    /// The maximum number of bytes of a name in an archive.
    package static let nameBytes = 4096
    /// The maximum number of bytes of a part of an archive's file.
    package static let pieceBytes = 1 << 18

    /// The number of bytes of a picture; nil if it is above a limit or a number is not positive.
    package static func bytes(width: Int, height: Int, each: Int) -> Int? {
        guard (1...side).contains(width), (1...side).contains(height), (1...32).contains(each) else { return nil }
        // At most 2^14 · 2^14 · 32 = 2^33.
        let count = width * height * each
        return count <= decodedBytes ? count : nil
    }
}

/// A library that `capbundle-decode` loads only if its command line names it, because loading takes time. The sandbox
/// forbids opening files, so a library cannot be loaded later.
package enum PictureLibrary: String, Sendable, CaseIterable {
    case tiff, heif, archive

    private var names: (file: String, package: String) {
        switch self {
        case .tiff: ("libtiff.so.6", "libtiff6")
        case .heif: ("libheif.so.1", "libheif1")
        case .archive: ("libarchive.so.13", "libarchive13")
        }
    }

    /// The file name of the shared library, which includes the version of its ABI.
    package var fileName: String { names.file }

    package var debianPackage: String { names.package }
}
