import CaptureBundle
import SystemPackage

/// Recognises a scan of Stray Scanner, and refuses it, because its photos are only in a video.
struct StrayScannerLayout: RawLayout {
    static let name = "stray-scanner"
    static let words = "a Stray Scanner scan"

    static func evidence(in tree: RawTree) -> String? {
        tree.has("odometry.csv") && tree.has("rgb.mp4") ? "odometry.csv, rgb.mp4" : nil
    }

    static func export(_ tree: RawTree) throws(BundleError) -> RawExport {
        throw BundleError(
            .rawLayout, "is \(words), which has its photos only in the video rgb.mp4", file: tree.root, cause: .scan)
    }
}
