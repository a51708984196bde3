import CaptureBundle
import SystemPackage

/// The limit on the number of frames in an export (Spec/raw-captures.md section 2.2).
enum FrameCount {
    static let limit = 100_000

    /// Checks the number of frames.
    ///
    /// - Throws: `raw.layout` if there are no frames, or more than the limit.
    static func check(_ count: Int, in tree: RawTree) throws(BundleError) {
        guard count > 0 else { throw BundleError(.rawLayout, "has no frames", file: tree.root) }
        guard count <= limit else {
            throw BundleError(.rawLayout, "has \(count) frames, at most \(limit) are allowed", file: tree.root)
        }
    }
}

extension String {
    /// Whether the text is the number of a frame: 1 to 18 digits, so that it fits an Int.
    var isFrameNumber: Bool {
        (1...18).contains(utf8.count) && utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    }

    /// Whether the text looks like the version of an app: short and printable ASCII, since it goes into metadata.json.
    var isVersion: Bool { (1...32).contains(utf8.count) && utf8.allSatisfy { (0x21...0x7e).contains($0) } }
}
