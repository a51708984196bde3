import ArgumentParser
import CaptureBundle
import CommandSupport

/// The options of `pack` for raw captures of other layouts (Spec/raw-captures.md).
struct RawOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The layout of RAW: auto, capbundle, realitycam, 3d-scanner-app, record3d, polycam or nerfstudio.",
            valueName: "name"))
    var layout: LayoutChoice = .auto

    @Option(
        help: ArgumentHelp(
            "The photos in a folder of any other layout, such as 'rgb/*.jpg'.", valueName: "pattern"))
    var photo: NamePattern?

    @Option(help: ArgumentHelp("Their depth maps: the same text in place of *.", valueName: "pattern"))
    var depth: NamePattern?

    @Option(help: ArgumentHelp("Their confidence maps.", valueName: "pattern"))
    var confidence: NamePattern?

    @Option(help: ArgumentHelp("How many metres one unit of a depth map is, such as 0.001.", valueName: "metres"))
    var depthScale: DepthScale?

    @Option(help: ArgumentHelp("The unit of the depth maps: m or mm.", valueName: "unit"))
    var depthUnit: DepthUnit?

    @Option(help: ArgumentHelp("Width and height of a depth map that has raw samples only.", valueName: "WxH"))
    var depthSize: DepthSize?

    @Option(help: ArgumentHelp("Pack only these frames, by the app's numbers, such as 0,10-30.", valueName: "numbers"))
    var frames: FrameSelection?

    @Option(help: ArgumentHelp("Pack the first frame with a photo and then every Nth.", valueName: "n"))
    var every: Int = 1

    @Flag(help: "Also carry the converted files and the app's own, byte for byte, as source/NAME.")
    var keepSource = false

    @Option(help: ArgumentHelp("The model of the device, if nothing else says it.", valueName: "name"))
    var deviceModel: String?

    @Option(
        help: ArgumentHelp(
            "The time of the first frame, if nothing else says it.", discussion: "The others follow the app's clock.",
            valueName: "time"))
    var capturedAt: CaptureTime?

    @Option(help: ArgumentHelp("The zone of EXIF times without one, such as +01:00.", valueName: "zone"))
    var timeZone: ZoneOffset?

    @Flag(help: "Take the position out of the photo without encoding it again.")
    var rewritePhoto = false

    @Flag(help: "Pack a photo that tells its position, whatever --location says.")
    var keepPhotoLocation = false

    static let valueOptions: Set<String> = [
        "--layout", "--photo", "--depth", "--confidence", "--depth-scale", "--depth-unit", "--depth-size", "--frames",
        "--every", "--device-model", "--captured-at", "--time-zone",
    ]
    static let flags: Set<String> = ["--keep-source", "--rewrite-photo", "--keep-photo-location"]

    func validate() throws {
        if every < 1 { throw ValidationError("--every is \(every), expected 1 or more") }
        if depthScale != nil && depthUnit != nil { throw ValidationError("give either --depth-scale or --depth-unit") }
        if photo == nil && (depth != nil || confidence != nil) {
            throw ValidationError("--depth and --confidence need --photo PATTERN")
        }
        if photo != nil && layout != .auto { throw ValidationError("give either --layout or --photo PATTERN") }
        if photo != nil && patterns == nil {
            throw ValidationError("--photo, --depth and --confidence must all have a *, or none of them")
        }
    }

    private var patterns: CapturePatterns? {
        photo.flatMap { CapturePatterns(photo: $0, depth: depth, confidence: confidence) }
    }

    /// The options for the library.
    func options(withoutDepth: Bool, location: LocationPolicy) -> RawCaptureOptions {
        var options = RawCaptureOptions(depthSize: depthSize, withoutDepth: withoutDepth, location: location)
        options.layout = layout
        options.patterns = patterns
        options.depthScale = depthScale ?? depthUnit?.scale
        (options.frames, options.every) = (frames, every)
        options.keepsSource = keepSource
        (options.deviceModel, options.capturedAt, options.timeZone) = (deviceModel, capturedAt, timeZone)
        (options.rewritesPhoto, options.keepsPhotoLocation) = (rewritePhoto, keepPhotoLocation)
        return options
    }
}

/// The value of `--depth-unit`.
enum DepthUnit: String, ExpressibleByArgument, CaseIterable {
    case metres = "m"
    case millimetres = "mm"

    var scale: DepthScale { self == .metres ? .metres : .millimetres }
}
