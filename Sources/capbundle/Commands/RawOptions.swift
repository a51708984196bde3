import ArgumentParser
import CaptureBundle
import CommandSupport

/// The options of `pack` for raw captures of other layouts (Spec/raw-captures.md).
struct RawOptions: ParsableArguments {
    @OptionGroup var files: RawFilesOptions

    @Option(help: ArgumentHelp("Pack the first frame with a photo and then every Nth.", valueName: "n"))
    var every: Int = 1

    @Flag(help: "Also pack the original depth files and the app's own files, as source/NAME.")
    var keepSource = false

    @Option(help: ArgumentHelp("The model of the device, if no file gives it.", valueName: "name"))
    var deviceModel: String?

    @Option(
        help: ArgumentHelp(
            "The time of the first frame, if no file gives it.", discussion: "The app's clock gives the other times.",
            valueName: "date-time"))
    var capturedAt: CaptureTime?

    @Option(help: ArgumentHelp("The time zone for EXIF times that have none, such as +01:00.", valueName: "zone"))
    var timeZone: ZoneOffset?

    @Flag(help: "Convert a HEIC photo to JPEG, and carry the original as source/photo.heic.")
    var convertPhoto = false

    @Flag(help: "Drop all but a short list of EXIF fields from the photo, without encoding it again.")
    var rewritePhoto = false

    @Flag(help: "Pack photo and other files unchanged, whatever --location says.")
    var keepPhotoLocation = false

    static let valueOptions = RawFilesOptions.valueOptions.union([
        "--every", "--device-model", "--captured-at", "--time-zone",
    ])
    static let flags: Set<String> = ["--keep-source", "--convert-photo", "--rewrite-photo", "--keep-photo-location"]

    func validate() throws {
        if rewritePhoto && keepPhotoLocation {
            throw ValidationError("give either --rewrite-photo or --keep-photo-location")
        }
        if every < 1 { throw ValidationError("--every is \(every), expected 1 or more") }
    }

    /// The options for the library.
    func options(withoutDepth: Bool, location: LocationPolicy) -> RawCaptureOptions {
        var options = files.options(withoutDepth: withoutDepth, location: location)
        options.every = every
        options.keepsSource = keepSource
        (options.deviceModel, options.capturedAt, options.timeZone) = (deviceModel, capturedAt, timeZone)
        options.convertsPhoto = convertPhoto
        (options.rewritesPhoto, options.keepsPhotoLocation) = (rewritePhoto, keepPhotoLocation)
        return options
    }
}
