public import ArgumentParser
public import CaptureBundle
public import CaptureImport
import CapturePages
import CommandSupport

/// The options of `pack` for raw captures of other layouts (Spec/raw-captures.md).
struct RawOptions: ParsableArguments {
    @OptionGroup var files: RawFilesOptions

    @Option(help: ArgumentHelp("Pack the first frame with a photo and then every Nth.", valueName: "n"))
    var every: Int = 1

    @Flag(help: "Also pack the original depth files, except depth.f32, and the app's own files, as source/NAME.")
    var keepSource = false

    @Option("The model of the device, if no file gives it.", value: "name")
    var deviceModel: String?

    @Option(
        "The time of the capture, if no file gives it.",
        discussion: "For an export with an app's clock: the time of its first frame.", value: "date-time")
    var capturedAt: CaptureTime?

    @Option(
        "Read the names of the frames as times: s, ms, us or ns since 1970, or iso.",
        discussion: "The name is what * matches, such as 2026-03-14T15-09-26.535Z with iso.", value: "form")
    var timeFromName: NameTimeForm?

    @Option(
        "Take the depth map whose time is nearest to the photo's, at most this far away, such as 20ms.",
        discussion: "The times are in the names; needs --time-from-name.", value: "limit")
    var matchWithin: MatchLimit?

    @Flag(help: "Give several frames one time, that of --captured-at or metadata.json.")
    var sameTime = false

    @Option("The time zone for times that have none, such as +01:00.", value: "zone")
    var timeZone: ZoneOffset?

    @Flag(help: "Convert a HEIC or PNG photo to JPEG, and carry the original as source/photo.heic or .png.")
    var convertPhoto = false

    @Flag(help: "Drop all but a short list of EXIF fields from the photo, without encoding it again.")
    var rewritePhoto = false

    @Flag(help: "Pack photo and other files unchanged, whatever --location says.")
    var keepPhotoLocation = false

    func validate() throws {
        if rewritePhoto && keepPhotoLocation {
            throw ValidationError("give either --rewrite-photo or --keep-photo-location")
        }
        if timeFromName != nil && sameTime { throw ValidationError("give either --time-from-name or --same-time") }
        if matchWithin != nil && (timeFromName == nil || files.depth == nil) {
            throw ValidationError("--match-within needs --time-from-name FORM and --depth PATTERN")
        }
        if every < 1 { throw ValidationError("--every is \(every), expected 1 or more") }
    }

    func options(withoutDepth: Bool, location: LocationPolicy) -> RawCaptureOptions {
        var options = files.options(withoutDepth: withoutDepth, location: location)
        options.every = every
        options.keepsSource = keepSource
        (options.deviceModel, options.capturedAt, options.timeZone) = (deviceModel, capturedAt, timeZone)
        options.matchWithin = matchWithin
        (options.timeFromName, options.sharesTime) = (timeFromName, sameTime)
        options.convertsPhoto = convertPhoto
        (options.rewritesPhoto, options.keepsPhotoLocation) = (rewritePhoto, keepPhotoLocation)
        return options
    }
}

extension ColourTable: ExpressibleByArgument {}

extension LayoutChoice: ExpressibleByArgument {}

extension NameTimeForm: ExpressibleByArgument {}

extension MatchLimit: ExpressibleByArgument {}

extension NamePattern: ExpressibleByArgument {}

extension DepthScale: ExpressibleByArgument {}

extension FrameSelection: ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }
}

extension ZoneOffset: ExpressibleByArgument {}

extension DepthSize: ExpressibleByArgument {
    /// Parses `WxH`.
    public init?(argument: String) {
        let parts = argument.pieces(by: "x", keepsEmpty: true)
        let sides = parts.map { $0.utf8.allSatisfy { (48...57).contains($0) } ? Int($0) : nil }
        guard sides.count == 2, let width = sides[0], let height = sides[1] else { return nil }
        self.init(width: width, height: height)
    }
}
