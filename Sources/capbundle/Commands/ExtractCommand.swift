import ArgumentParser
import CaptureBundle
import CommandSupport
import SystemPackage

struct ExtractCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "extract",
        abstract: "Extract the photo, the depth map and other entries from a bundle.",
        usage: """
            capbundle extract FILE [ENTRY...] -o FOLDER [options]
            capbundle extract FILE ENTRY [options] > PIPE
            """,
        discussion: """
            Writes nothing unless all hashes match and the signature is valid; does not check trust. Without ENTRY, it \
            extracts the whole payload. ENTRY is a name that "capbundle show" prints, a role (photo, depth, metadata, \
            location, confidence, source), depth.f32 for the depth map as raw floats, manifest.json or assertion.cbor. \
            Exit codes: 0, 1 or 2 as for "capbundle verify".
            """,
        example: [
            "capbundle extract cap.bundle -o opened",
            "capbundle extract cap.bundle photo.jpg > photo.jpg",
            "capbundle extract cap.bundle depth.f32 -o opened",
        ])

    @Argument(help: "The bundle, or - for standard input.", completion: .file())
    var file: String

    @Argument(
        help: ArgumentHelp("The entries to extract.", valueName: "entry"),
        completion: .list([
            "photo.jpg", "depth.f32", "depth.f32.gz", "metadata.json", "location.json", "confidence.png",
            "manifest.json",
            "assertion.cbor",
        ]))
    var entries: [String] = []

    @Option(
        name: [.short, .long], "The folder to write to. It is made if it does not exist.",
        discussion: "Default: standard output, for a single entry.", value: "folder", completion: .directory)
    var output: String?

    @Flag(help: "Write the depth map as depth.f32 (raw Float32 little-endian).")
    var floats = false

    @OptionGroup var force: ForceOption

    private var goesToStandardOutput: Bool { output == nil || output == "-" }

    func validate() throws {
        if goesToStandardOutput {
            guard entries.count == 1 else {
                throw ValidationError("give a folder with -o, or a single entry for standard output")
            }
            if entries == [Role.source.rawValue] {
                throw ValidationError("source can be several entries; give a folder with -o")
            }
            try refuseTerminal("-", "an entry")
        }
        let names = entries.map { word in
            guard let path = EntryPath(asTyped: word), path.role != .source else { return word }
            return path.role.rawValue
        }
        if Set(names.map { Array($0.utf8) }).count != names.count {
            throw ValidationError("an entry is named twice")
        }
        if floats && !entries.isEmpty && !names.contains(Role.depth.rawValue) {
            throw ValidationError("--floats converts depth.f32.gz, which is not among the entries")
        }
    }

    func run() throws {
        let extractor = Extractor(entries: entries, asFloats: floats)
        let name = output ?? "-"
        let folder = FilePath(folder: name)
        let destination: Extractor.Destination =
            goesToStandardOutput ? .standardOutput : force.force ? .replacing(folder) : .folder(folder)
        let names = try extractor.extract(BundleSource(path: FilePath(file: file)), to: destination)
        if !goesToStandardOutput {
            diagnostic.note("wrote \(names.joined(separator: ", ")) to the folder \(name)")
        }
    }
}
