import ArgumentParser
import CaptureBundle
import CommandSupport
import SystemPackage

struct RestoreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Put withheld entries back into a bundle.",
        usage: "capbundle restore FILE KEPT... -o FILE [options]",
        discussion: """
            KEPT is a file with the bytes of a withheld entry, or another copy of the bundle, with the same manifest, \
            that still has the entry. A file is put back only if its size and SHA-256 are those of a withheld entry; \
            its name does not matter. With all entries back, the result has the bytes of the original bundle. Writes \
            nothing unless all entries of the result match the manifest and its signature is valid. Does not check \
            trust.
            """,
        example: [
            "capbundle extract cap.bundle -o kept",
            "capbundle redact cap.bundle --withhold location.json -o public.bundle",
            "capbundle restore public.bundle kept/location.json -o whole.bundle",
        ])

    @Argument(help: "The bundle, or - for standard input.", completion: .file())
    var file: String

    @Argument(
        help: ArgumentHelp("Files that were kept, such as location.json or the whole bundle.", valueName: "kept"),
        completion: .file())
    var kept: [String] = []

    @OptionGroup var output: BundleOutputOption

    @OptionGroup var force: ForceOption
    @OptionGroup var format: JSONOption

    func validate() throws {
        if kept.isEmpty { throw ValidationError("give the files that were kept, such as location.json") }
        if kept.contains("-") { throw ValidationError("a file that was kept cannot be -, expected the name of a file") }
        try output.requireNoTerminal()
    }

    func run() throws {
        let report = "capture-bundle/restore/1"
        let restored = try format.reporting(report, of: file, to: output.path) {
            try Restorer(kept: kept.map { FilePath(file: $0) })
                .restore(BundleSource(path: FilePath(file: file)), to: force.place(output.path))
        }
        if format.json {
            let json = WithholdingRendering.json(
                report, of: file, restored, in: output.path, restored: restored.moved, withheld: restored.lacking)
            return try Output.json(json, beside: [output.path])
        }
        let size = Quantity.bytes(restored.byteCount, on: .messages)
        let names = WithholdingRendering.names(restored.moved)
        diagnostic.note("wrote \(output.path): \(size)\(names.isEmpty ? "; nothing was put back" : ", with \(names)")")
        if !restored.lacking.isEmpty {
            diagnostic.note("still withheld: \(WithholdingRendering.names(restored.lacking))")
        }
    }
}

extension RestoreCommand: ManyNamesCommand {
    var names: [String] {
        get { [file] + kept }
        set {
            file = newValue.first ?? file
            kept = Array(newValue.dropFirst())
        }
    }
}
