import CaptureBundle
import CaptureNative
import SystemPackage

/// Looks for what a person may have meant where a file of a raw folder is missing.
struct RawFolderSearch {
    private let tree: RawTree
    private let folder: FilePath
    private let names: [String]
    /// How many files are opened to see what they are.
    private static let most = 16

    init(_ tree: RawTree, _ names: [FilePath]) {
        self.tree = tree
        folder = tree.root
        self.names = names.map(\.string)
    }

    private func missing(_ name: FilePath, _ message: String, _ hints: [Hint]) -> BundleError {
        BundleError(.rawCapture, "missing; \(message)", file: tree.label(name), hints: hints)
    }

    private func renaming(_ found: String, to name: FilePath) -> String {
        "rename it: mv \(ShellWord.quote(folder.appending(found))) \(ShellWord.quote(tree.label(name)))"
    }

    private func candidates(_ endings: [String], where accepts: (String) -> Bool = { _ in true }) -> [String] {
        let found = names.filter { name in
            let lower = name.lowercased()
            return endings.contains { lower.hasSuffix($0) } && accepts(lower)
        }
        return Array(found.prefix(Self.most))
    }

    private static let photoEndings = [
        ".jpg", ".jpeg", ".heic", ".heif", ".hif", ".avif", ".png", ".webp", ".tif", ".tiff",
    ]
    private static let floatEndings = [".f32", ".npy", ".npz", ".exr", ".pfm", ".pgm"]

    /// The error for something that is not a folder, or a folder without any file that could be part of a capture; nil
    /// otherwise.
    func notACapture() -> BundleError? {
        do { _ = try names.isEmpty ? Folders.names(in: folder) : [] } catch {
            guard error.isNoFolder else { return .reading(folder, error) }
            let kind = FileKind(file: folder)
            return BundleError(
                .inputUnreadable, "is \(kind?.words ?? "not a folder"), expected a raw folder", file: folder,
                hints: FileKind.hints(insteadOfARawFolder: folder, kind))
        }
        guard candidates(Self.photoEndings + Self.floatEndings + [".json"]).isEmpty else { return nil }
        let list = CapbundleLayout.usual.map(\.string).joined(separator: ", ")
        let found = names.isEmpty ? "is empty" : "holds none of these"
        let below = capturesBelow + (FolderContents(folder)?.hints ?? [])
        let hints = below.isEmpty ? proposal : below
        return BundleError(.rawCapture, "\(found), expected \(list)", file: folder, hints: hints)
    }

    private var proposal: [Hint] { PatternProposal(tree).map { [$0.hint] } ?? [] }

    func missingPhoto() -> BundleError {
        let name = CapbundleLayout.photo
        let pictures = candidates(Self.photoEndings) { !$0.contains("depth") && !$0.contains("confidence") }
            .compactMap { name in FileKind(file: folder.appending(name)).map { (name: name, kind: $0) } }
        let photos = pictures.filter { $0.kind.family == .jpeg }
        if photos.count > 1 {
            let list = photos.prefix(4).map(\.name).joined(separator: ", ")
            let single: Hint = "if the folder holds one capture, rename its photo to \(name)"
            return missing(name, "\(list) are JPEG photos", proposal.isEmpty ? [single] : proposal)
        }
        if let photo = photos.first {
            return missing(name, "\(photo.name) is \(photo.kind.words)", ["\(renaming(photo.name, to: name))"])
        }
        if let other = pictures.first(where: { $0.kind.family == .heif }) ?? pictures.first {
            let several = pictures.count > 1 ? proposal : []
            let advice = PhotoAdvice.hints(at: folder.appending(other.name), other.kind, to: tree.label(name))
            return missing(
                name, "\(other.name) is \(other.kind.words), expected a JPEG", several.isEmpty ? advice : several)
        }
        if let cloud = names.first(where: { $0.hasPrefix(".photo.") && $0.hasSuffix(".icloud") }) {
            return missing(name, "\(cloud) is a placeholder of a cloud drive", ["download the photo first"])
        }
        return missing(name, "a raw folder must hold the photo under this name", [])
    }

    func missingMetadata() -> BundleError {
        let name = CapbundleLayout.metadata
        let texts = candidates([".json", ".json.txt"])
        if let text = texts.first, texts.count == 1 {
            return missing(name, "found \(text)", ["if that describes the capture, \(renaming(text, to: name))"])
        }
        let example =
            #"{"captured_at":"2026-03-14T15:09:26+01:00","device_model":"NAME","#
            + #""depth_map_dimensions":{"width":256,"height":192}}"#
        return missing(
            name, "it must give the time of the capture and the model of the device",
            ["it needs at least: \(example)", .set(.capturedAt)])
    }

    func missingDepth(_ size: DepthSize?) -> BundleError {
        let name = CapbundleLayout.floats
        let own = Self.floatEndings
        let endings = own + [".png", ".tif", ".tiff", ".gz", ".bin", ".raw", ".f16", ".f64", ".dat", ".jpg"]
        let found = candidates(endings) { lower in
            lower.contains("depth") || own.contains { lower.hasSuffix($0) }
        }
        for other in found {
            let path = folder.appending(other)
            if let kind = FileKind(file: path) {
                return missing(
                    name, "\(other) is \(kind.words); expected \(DepthAdvice.expected(size, insteadOf: kind))",
                    DepthAdvice.hints(at: path, kind, to: tree.label(name)))
            }
            if let length = try? FileStatus.of(path).size, length == size?.byteCount {
                return missing(name, "\(other) has the right length", ["\(renaming(other, to: name))"])
            }
        }
        guard let other = found.first else {
            return missing(name, "expected \(DepthAdvice.expected(size))", [.set(.withoutDepth)])
        }
        return missing(name, "found \(other); expected \(DepthAdvice.expected(size))", [])
    }

    private static let formats: [String: FileKind.Format?] = [
        "npy": .npy, "pfm": .pfm, "pgm": .pgm, "png": .png, "tif": .tiff, "tiff": .tiff, "exr": .exr, "gz": .gzip,
        "f32": nil, "bin": nil, "raw": nil, "zlib": nil, "deflate": nil,
    ]

    /// The error for a depth file whose first bytes show another kind of file than its name; nil if they do not.
    func otherKind(_ path: FilePath, _ size: DepthSize?) -> BundleError? {
        let file = tree.label(path)
        guard let own = path.ending.flatMap({ Self.formats[$0] }), let kind = FileKind(file: file),
            own == nil || kind.format != own
        else { return nil }
        let isFloats = path == CapbundleLayout.floats
        let expected = isFloats ? DepthAdvice.expected(size, insteadOf: kind) : "what its ending says"
        return BundleError(
            isFloats ? .rawCapture : .rawDepth, "looks like \(kind.words); expected \(expected)", file: file,
            hints: DepthAdvice.hints(at: file, kind, to: file))
    }

    /// For a folder that is not a capture, but holds some.
    private var capturesBelow: [Hint] {
        let all = names.filter { !$0.hasPrefix(".") }
        let count = all.count(where: { FileStatus.exists(folder.appending("\($0)/photo.jpg")) })
        guard count > 0 else { return [] }
        return [.raw(count == all.count ? .packAll(folder) : .packSome(folder, count: count, of: all.count))]
    }
}
