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
