/// A library that `capbundle-decode` loads only if its command line names it, since it costs time at each start. The
/// sandbox forbids opening files, so nothing is loaded later.
package enum PictureLibrary: String, Sendable, CaseIterable {
    case tiff, heif, archive

    /// The shared library, by the name in which its ABI is part.
    package var fileName: String {
        switch self {
        case .tiff: "libtiff.so.6"
        case .heif: "libheif.so.1"
        case .archive: "libarchive.so.13"
        }
    }

    /// The Debian package that has it.
    package var debianPackage: String {
        switch self {
        case .tiff: "libtiff6"
        case .heif: "libheif1"
        case .archive: "libarchive13"
        }
    }
}
