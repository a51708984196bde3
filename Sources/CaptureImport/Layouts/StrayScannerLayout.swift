import CaptureBundle
import CaptureNative
import SystemPackage

/// Recognises a scan of Stray Scanner, and refuses it, because its photos are only in a video. The hints have commands
/// that extract them.
struct StrayScannerLayout: RawLayout {
    static let name = "stray-scanner"
    static let words = "a Stray Scanner scan"

    static func evidence(in tree: RawTree) -> String? {
        tree.holds("odometry.csv") && tree.holds("rgb.mp4") ? "odometry.csv, rgb.mp4" : nil
    }

    static func export(_ tree: RawTree) throws(BundleError) -> RawExport {
        let isFolder = (try? FileStatus.of(tree.root))?.kind == .folder
        let folder = isFolder ? ShellWord.quote(tree.root) : "SCAN"
        // Each depth map belongs to the video frame of the same number, so ffmpeg must not drop, repeat or rotate frames.
        let pictures =
            "mkdir \(folder)/rgb && ffmpeg -noautorotate -i \(folder)/rgb.mp4 -fps_mode passthrough -start_number 0 "
            + "-q:v 2 \(folder)/rgb/%06d.jpg"
        throw BundleError(
            .rawLayout, "is \(words), which has its photos only in the video rgb.mp4", file: tree.root,
            hints: (isFolder ? [] : ["unpack it to a folder SCAN first"])
                + [
                    "to extract the photos (Debian package: ffmpeg): \(pictures)",
                    .raw(.packScan(isFolder ? tree.root : nil)),
                ])
    }
}
