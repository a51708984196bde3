import ArgumentParser
import CaptureBundle
import CommandSupport
import SystemPackage

struct RedactCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "redact",
        abstract: "Withhold entries of a bundle, such as the position.",
        usage: "capbundle redact FILE --withhold ENTRIES -o FILE [options]",
        discussion: """
            Writes a copy of the bundle without the entries that --withhold names. The signature stays valid, and \
            "capbundle verify --allow-withheld" accepts the copy. Only entries that were marked when the capture was \
            packed can be withheld: location.json, and those of "capbundle pack --withholdable". The hashes of \
            withheld entries stay in the copy; only that of location.json is salted. Writes nothing unless the bundle \
            is unchanged and its signature is valid; does not check trust.

            Withholds location.json only if the photo has nothing but a short list of EXIF fields and no other \
            entry can tell the position; --keep-photo-location overrides this. "capbundle pack --rewrite-photo" \
            writes such a photo.
            """,
        example: ["capbundle redact cap.bundle --withhold location.json -o public.bundle"])

    @Argument(help: "The bundle, or - for standard input.", completion: .file())
    var file: String

    @Option(
        help: ArgumentHelp(
            "The entries to withhold, separated by commas.",
            discussion: "Names or roles of entries; source means all entries below source/.", valueName: "entries"),
        completion: WithholdingWords.completion)
    var withhold: [String]

    @OptionGroup var output: BundleOutputOption

    @Flag(help: "Withhold location.json even if another entry may tell the position.")
    var keepPhotoLocation = false

    @OptionGroup var force: ForceOption
    @OptionGroup var format: JSONOption

    func validate() throws {
        _ = try WithholdingWords.selection(withhold, of: "--withhold")
        try output.requireNoTerminal()
    }

    func run() throws {
        let redactor = Redactor(
            withholding: try WithholdingWords.selection(withhold, of: "--withhold"),
            keepsPhotoLocation: keepPhotoLocation)
        let report = "capture-bundle/redact/1"
        let redacted = try format.reporting(report, of: file, to: output.path) {
            try redactor.redact(BundleSource(path: FilePath(file: file)), to: force.place(output.path))
        }
        if format.json {
            let json = WithholdingRendering.json(
                report, of: file, redacted, in: output.path,
                withheld: (redacted.moved + redacted.lacking).sorted { $0.path < $1.path })
            return try Output.json(json, beside: [output.path])
        }
        let size = Quantity.bytes(redacted.byteCount, on: .messages)
        let now = redacted.moved.isEmpty ? "" : ", without \(WithholdingRendering.names(redacted.moved))"
        diagnostic.note("wrote \(output.path): \(size)\(now)")
        if !redacted.lacking.isEmpty {
            diagnostic.note("withheld before: \(WithholdingRendering.names(redacted.lacking))")
        }
    }
}
