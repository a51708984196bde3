import CaptureBundle
import SystemPackage

/// Recognises a recording in Record3D's own format, and refuses it: its depth maps are compressed with LZFSE. The app
/// can export the recording in another form.
struct R3DLayout: RawLayout {
    static let name = "r3d"
    static let words = "a recording in Record3D's own format (.r3d)"

    static func evidence(in tree: RawTree) -> String? {
        tree.holds("metadata") && tree.holds("rgbd") ? "metadata, rgbd" : nil
    }

    static func export(_ tree: RawTree) throws(BundleError) -> RawExport {
        throw BundleError(
            .rawLayout, "is \(words), whose depth maps cannot be read, because they are compressed with LZFSE",
            file: tree.root, cause: .recording)
    }
}
