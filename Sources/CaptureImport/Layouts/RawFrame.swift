import CaptureBundle
import SystemPackage

/// Describes one capture of an export, whose files are not read yet (Spec/raw-captures.md section 2).
package struct RawFrame: Sendable {
    /// The app's number or name of the frame, as its files have it, such as `00003`; nil for the only capture of a RAW.
    package internal(set) var name: String?
    /// The app's number of the frame, for `--frames`.
    package internal(set) var number: Int?
    /// The path of the photo in the tree; nil for a frame without a photo, which is not packed.
    var photo: FilePath?
    var depth: DepthFile?
    /// Whether the depth map is inside the photo.
    var hasDepthInside = false
    /// The SHA-256 of the photo in hex or base64, if the layout gives it.
    var photoHash: String?
    /// The path of a confidence map: an 8-bit grey PNG.
    var confidence: FilePath?
    /// The app's own files about the frame and the scan, which `--keep-source` carries besides the depth file.
    var carried: [FilePath] = []

    /// A depth file, and what the layout says about it.
    struct DepthFile: Sendable {
        var path: FilePath
        /// nil if the layout does not give it.
        var scale: DepthScale?
        /// The scale if the samples are floats; it replaces `scale`.
        var floatScale: DepthScale?
        /// Whether `scale` is only what most files of this name have.
        var isUnitAssumed = false
        /// The size, for a file that does not contain it.
        var size: DepthSize?
        /// The time of the depth map minus the time of the photo in nanoseconds; nil unless the times matched them.
        var timeOffset: Int?
        /// Why the depth map cannot be packed, although other parts of the frame can. It is an array because an optional
        /// error would make every frame larger.
        var faults: [BundleError] = []
    }
}

/// The facts that a layout gives about a frame. Those of metadata.json take precedence over them, and they take
/// precedence over those of EXIF (Spec/raw-captures.md section 5).
struct FrameFacts: Sendable {
    enum Clock: Hashable, Sendable {
        case none
        /// A time in the form of RFC 3339, with a zone.
        case time(String)
        /// Seconds since the first frame of the export, by a clock without a date.
        case elapsed(Double)
    }

    var clock = Clock.none
    /// The members of `location` in metadata.json: latitude, longitude, altitude, accuracy.
    var location: JSONValue?
    var intrinsics: CameraIntrinsics?
    var pose: CameraPose?
}

/// A pinhole camera, in pixels of the stored photo.
package struct CameraIntrinsics: Hashable, Sendable {
    package var fx: Double
    package var fy: Double
    package var cx: Double
    package var cy: Double
    /// The size of the picture to which the numbers belong; nil if the layout does not give it, and the numbers belong to
    /// the photo as it is. A photo of another size was scaled or cropped later, so the numbers are not valid for it.
    package var width: Int?
    package var height: Int?
}

/// The pose of a camera: a camera-to-world matrix of 16 numbers, row-major, in metres. The camera's axes are x right, y
/// up, z backwards.
struct CameraPose: Hashable, Sendable {
    var matrix: [Double]

    /// Creates a pose; nil unless there are 16 finite numbers.
    init?(_ matrix: [Double]) {
        guard matrix.count == 16, matrix.allSatisfy(\.isFinite) else { return nil }
        self.matrix = matrix
    }
}

/// What a layout finds in a tree.
struct RawExport: Sendable {
    /// All frames in the app's order, including those without a photo.
    var frames: [RawFrame]
    /// The app and its version, such as `3D Scanner App 1.9.5`; nil if the export does not name them.
    var app: String?
    /// Whether RAW is a single capture, whose bundle is named after RAW alone.
    var isSingle = false
    /// The path of a metadata.json of our own form, which takes precedence over the facts of all frames.
    var metadata: FilePath?
    /// The files in a folder of our own layout that are not packed.
    var ignored: [FilePath] = []
    /// Looks for what may be meant where a file of a folder of our own layout is missing.
    var search: RawFolderSearch?
    /// Returns the facts of a frame. It is called when the frame is packed, since the facts of 100,000 frames would need
    /// about 100 MB. An error, for example because of a broken file, fails only this frame, and those whose times count from it.
    var facts: @Sendable (RawFrame) throws(BundleError) -> FrameFacts = { _ in FrameFacts() }
}

/// One layout of Spec/raw-captures.md section 2.
protocol RawLayout: Sendable {
    static var name: String { get }
    /// What messages call the layout, such as "a 3D Scanner App export".
    static var words: String { get }
    /// The files by which the layout was recognised, such as "info.json, frame_00000.json"; nil if the layout does not
    /// fit. This function checks names first, and reads at most metadata.json.
    static func evidence(in tree: RawTree) -> String?
    /// Describes the frames of the tree.
    ///
    /// - Throws: `raw.capture`, `raw.layout` (an export that cannot be packed), `input.unreadable`.
    static func export(_ tree: RawTree) throws(BundleError) -> RawExport
}
