import ArgumentParser
import CaptureBundle
import CaptureImport
import CommandSupport

/// The options that say which files of a raw capture are its photo and its depth map, and how these are read
/// (Spec/raw-captures.md sections 2 to 4).
struct RawFilesOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The layout of RAW; auto finds it.",
            valueName: "name"))
    var layout: LayoutChoice = .auto

    @Option("The photos of a folder in any other layout, such as 'rgb/*.jpg'.", value: "pattern")
    var photo: NamePattern?

    @Option("The depth maps; * matches the same text as for the photo.", value: "pattern")
    var depth: NamePattern?

    @Option("The confidence maps; * matches as for the depth maps.", value: "pattern")
    var confidence: NamePattern?

    @Option("The number of metres in one unit of the depth maps, such as 0.001.", value: "metres")
    var depthScale: DepthScale?

    @Option("The unit of the depth maps: m or mm.", value: "unit")
    var depthUnit: DepthUnit?

    @Option(
        "The numbers that mean \"not measured\" in a depth map.",
        discussion: "zero, zero-or-max (0 and 65535; the default with 16 bits), or above=N, such as above=1e9.",
        value: "numbers")
    var depthInvalid: MissingNumbers?

    @Option("The channel of an OpenEXR file of several that is the depth.", value: "name")
    var depthChannel: String?

    @Option("Width and height, for depth maps that are raw samples.", value: "WxH")
    var depthSize: DepthSize?

    @Option("Only these frames, by the app's numbers, such as 0,10-30.", value: "numbers")
    var frames: FrameSelection?

    func validate() throws {
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

    func options(withoutDepth: Bool = false, location: LocationPolicy = .exact) -> RawCaptureOptions {
        var options = RawCaptureOptions(depthSize: depthSize, withoutDepth: withoutDepth, location: location)
        options.layout = layout
        options.patterns = patterns
        options.depthScale = depthScale ?? depthUnit?.scale
        (options.depthInvalid, options.depthInvalidAbove) = (depthInvalid?.invalid, depthInvalid?.above)
        options.depthChannel = depthChannel
        options.frames = frames
        return options
    }
}

enum DepthUnit: String, ExpressibleByArgument, CaseIterable {
    case metres = "m"
    case millimetres = "mm"

    var scale: DepthScale { self == .metres ? .metres : .millimetres }
}

/// The value of `--depth-invalid`.
struct MissingNumbers: ExpressibleByArgument {
    var invalid: InvalidDepth?
    var above: Double?

    init?(argument: String) {
        invalid = InvalidDepth(rawValue: argument)
        guard invalid == nil else { return }
        guard ["above=", "above "].contains(argument.cut(to: 6)), let number = Double(argument.without(first: 6)),
            number.isFinite
        else { return nil }
        above = number
    }

    static let allValueStrings = InvalidDepth.allCases.map(\.rawValue) + ["above=N"]
}
