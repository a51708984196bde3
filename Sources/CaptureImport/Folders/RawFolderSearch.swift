import CaptureBundle
import CaptureNative
import SystemPackage

/// Looks for what a person may have meant where a file of a raw folder is missing.
struct RawFolderSearch {
    private let folder: FilePath
    private let names: [String]
    /// How many files are opened to see what they are.
    private static let most = 16

    init(_ folder: FilePath, _ names: [String]) {
        self.folder = folder
        self.names = names
    }

    func holds(_ name: String) -> Bool { names.contains(name) }

    /// Whether there is a depth map with another ending of our own layout.
    var hasOtherDepth: Bool { names.contains { CapbundleLayout.isDepth($0) } }

    private func missing(_ name: String, _ message: String, _ hints: [Hint]) -> BundleError {
        BundleError(.rawCapture, "missing; \(message)", file: folder.appending(name), hints: hints)
    }

    private func renaming(_ found: String, to name: String) -> String {
        "rename it: mv \(ShellWord.quote(folder.appending(found))) \(ShellWord.quote(folder.appending(name)))"
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

    /// For a folder in which nothing looks like a part of a capture; nil for others.
    func notACapture(_ expected: [String]) -> BundleError? {
        guard candidates(Self.photoEndings + Self.floatEndings + [".json"]).isEmpty else { return nil }
        let list = expected.joined(separator: ", ")
        let found = names.isEmpty ? "is empty" : "holds none of these"
        let below = capturesBelow + (FolderContents(folder)?.hints ?? [])
        let hints = below.isEmpty ? proposal.map { [$0] } ?? [] : below
        return BundleError(.rawCapture, "\(found), expected \(list)", file: folder, hints: hints)
    }

    private var proposal: Hint? {
        PatternProposal(RawTree(root: folder, storage: FolderStorage(folder: folder)))?.hint
    }

    func missingPhoto(_ name: String) -> BundleError {
        let pictures = candidates(Self.photoEndings) { !$0.contains("depth") && !$0.contains("confidence") }
            .compactMap { name in FileKind(file: folder.appending(name)).map { (name: name, kind: $0) } }
        let photos = pictures.filter { $0.kind.family == .jpeg }
        if photos.count > 1 {
            let list = photos.prefix(4).map(\.name).joined(separator: ", ")
            let single: Hint = "if the folder holds one capture, rename its photo to \(name)"
            return missing(name, "\(list) are JPEG photos", proposal.map { [$0] } ?? [single])
        }
        if let photo = photos.first {
            return missing(name, "\(photo.name) is \(photo.kind.words)", ["\(renaming(photo.name, to: name))"])
        }
        if let other = pictures.first(where: { $0.kind.family == .heif }) ?? pictures.first {
            let path = folder.appending(other.name)
            let several = pictures.count > 1 ? proposal : nil
            return missing(
                name, "\(other.name) is \(other.kind.words), expected a JPEG",
                several.map { [$0] } ?? PhotoAdvice.hints(at: path, other.kind, to: folder.appending(name)))
        }
        return missing(name, "a raw folder must hold the photo under this name", [])
    }

    func missingMetadata(_ name: String) -> BundleError {
        let texts = candidates([".json", ".json.txt"])
        if let text = texts.first, texts.count == 1 {
            return missing(name, "found \(text)", ["if that describes the capture, \(renaming(text, to: name))"])
        }
        let example =
            #"{"captured_at":"2026-03-14T15:09:26+01:00","device_model":"NAME","#
            + #""depth_map_dimensions":{"width":256,"height":192}}"#
        return missing(
            name, "it must give the time of the capture and the model of the device", ["it needs at least: \(example)"])
    }

    func missingDepth(_ name: String, _ size: DepthSize?) -> BundleError {
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
                    DepthAdvice.hints(at: path, kind, to: folder.appending(name)))
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

    /// For a folder that is not a capture, but holds some.
    private var capturesBelow: [Hint] {
        let all = names.filter { !$0.hasPrefix(".") }
        let count = all.count(where: { FileStatus.exists(folder.appending("\($0)/photo.jpg")) })
        guard count > 0 else { return [] }
        return [.raw(count == all.count ? .packAll(folder) : .packSome(folder, count: count, of: all.count))]
    }
}
