import ArgumentParser
import CaptureBundle
import CapturePages
import CommandSupport
import PictureClient
import SystemPackage

struct DepthCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "depth",
        abstract: "Show a depth map: statistics, a server's analysis, a picture.",
        usage: "capbundle depth FILE [-o PNG [--beside] [--colours COLOURS]] [options]",
        discussion: """
            FILE is a bundle, or a raw capture as "capbundle pack" takes it. Every byte of a bundle is verified, but \
            trust is not checked. The command prints statistics, and the analysis by which a RealityCam server tells \
            a real scene from a photographed screen, so that you know the server's answer before the upload. Exit \
            codes: 0, 1 or 2 as for "capbundle verify"; the analysis does not change them.
            """,
        example: ["capbundle depth cap.bundle", "capbundle depth cap.bundle --beside --image cap.png"])

    @Argument(help: "The bundle, - for one from standard input, or a raw capture.", completion: .file())
    var file: String

    @Option(
        name: [.customShort("o"), .customLong("image")],
        "Write a PNG with the depth map in colours, - for standard output.",
        discussion: "The colours cover the 2nd to the 98th percentile. The picture has a scale in metres. "
            + "With -, --json prints on standard error.",
        value: "png", completion: .file(extensions: ["png"]))
    var image: String?

    @Flag(help: "In the picture, put the photo next to the depth map.")
    var beside = false

    @Option(help: "The colours of the picture. Near is bright in cividis (default) and red in turbo.")
    var colours: ColourTable?

    @OptionGroup(title: "Raw captures") var raw: RawFilesOptions
    @OptionGroup var force: ForceOption
    @OptionGroup var format: JSONOption

    func validate() throws {
        if image == nil && (beside || colours != nil || force.force) {
            throw ValidationError("--beside, --colours and --force need --image PNG")
        }
        if let image { try refuseTerminal(image, "a picture") }
    }

    func run() throws {
        try format.reporting(DepthRendering.report, of: file, to: image) {
            let path = FilePath(file: file)
            let place = try image.map { try force.place($0) }
            let target = try place.map { try OutputTarget(examining: $0, reading: [path]) }
            let view = try CaptureView.read(path, withPhoto: image != nil, options: raw.options(), output: place)
            if let target { try draw(view, target) }
            try report(view.depth)
        }
    }

    private func draw(_ view: CaptureView, _ target: OutputTarget) throws {
        let path = FilePath(image ?? "-")
        try target.write(view.png(colours ?? .cividis, beside: beside, PictureDecoder(), for: path))
        try target.commit()
    }

    private func report(_ depth: DepthSamples) throws {
        if format.json {
            try Output.json(DepthRendering.json(file, depth, image: image), beside: [image])
        } else if image != "-" {
            try Output.line(DepthRendering.page(file, depth).joined(separator: "\n"))
        }
        if let image, image != "-", !format.json { diagnostic.note("wrote \(image)") }
    }
}
