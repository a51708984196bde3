import CaptureBundle
import CaptureNative
import SystemPackage

/// Looks for what a person may have meant where a file of a raw folder is missing.
struct RawFolderSearch {
    let tree: RawTree
    let names: [String]
    /// How many files are opened to see what they are.
    private static let most = 16

    private func missing(
        _ name: FilePath, _ message: String, cause: BundleError.Cause? = nil, values: [String] = []
    ) -> BundleError {
        BundleError(.rawCapture, "missing; \(message)", file: tree.label(name), cause: cause, values: values)
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
        do { _ = try names.isEmpty ? Folders.names(in: tree.root) : [] } catch {
            guard error.isNoFolder else { return .reading(tree.root, error) }
            let kind = FileKind(file: tree.root)
            return BundleError(
                .inputUnreadable, "is \(kind?.words ?? "not a folder"), expected a raw folder", file: tree.root,
                cause: .noFolder)
        }
        guard candidates(Self.photoEndings + Self.floatEndings + [".json"]).isEmpty else { return nil }
        let list = CapbundleLayout.usual.map(\.string).joined(separator: ", ")
        let found = names.isEmpty ? "is empty" : "holds none of these"
        return BundleError(.rawCapture, "\(found), expected \(list)", file: tree.root, cause: .noCapture)
    }

    func missingPhoto() -> BundleError {
        let name = CapbundleLayout.photo
        let pictures = candidates(Self.photoEndings) { !$0.contains("depth") && !$0.contains("confidence") }
            .compactMap { name in FileKind(file: tree.root.appending(name)).map { (name: name, kind: $0) } }
        let photos = pictures.filter { $0.kind.family == .jpeg }
        if photos.count > 1 {
            let list = photos.prefix(4).map(\.name).joined(separator: ", ")
            return missing(name, "\(list) are JPEG photos", cause: .severalPhotos)
        }
        if let photo = photos.first {
            return missing(name, "\(photo.name) is \(photo.kind.words)", cause: .otherName, values: [photo.name])
        }
        if let other = pictures.first(where: { $0.kind.family == .heif }) ?? pictures.first {
            return missing(
                name, "\(other.name) is \(other.kind.words), expected a JPEG",
                cause: pictures.count > 1 ? .severalPhotos : .otherPhoto, values: [other.kind.photoForm, other.name])
        }
        if let cloud = names.first(where: { $0.hasPrefix(".photo.") && $0.hasSuffix(".icloud") }) {
            return missing(name, "\(cloud) is a placeholder of a cloud drive", cause: .notDownloaded)
        }
        return missing(name, "a raw folder must hold the photo under this name")
    }

    func missingMetadata() -> BundleError {
        let name = CapbundleLayout.metadata
        let texts = candidates([".json", ".json.txt"])
        if let text = texts.first, texts.count == 1 {
            return missing(name, "found \(text)", cause: .otherName, values: [text])
        }
        return missing(name, "it must give the time of the capture and the model of the device", cause: .noMetadata)
    }

    func missingDepth(_ size: DepthSize?) -> BundleError {
        let name = CapbundleLayout.floats
        let own = Self.floatEndings
        let endings = own + [".png", ".tif", ".tiff", ".gz", ".bin", ".raw", ".f16", ".f64", ".dat", ".jpg"]
        let found = candidates(endings) { lower in
            lower.contains("depth") || own.contains { lower.hasSuffix($0) }
        }
        for other in found {
            let path = tree.root.appending(other)
            if let kind = FileKind(file: path) {
                return missing(
                    name, "\(other) is \(kind.words); expected \(Self.expected(size, insteadOf: kind))",
                    cause: .otherDepth, values: [other])
            }
            if let length = try? FileStatus.of(path).size, length == size?.byteCount {
                return missing(name, "\(other) has the right length", cause: .otherName, values: [other])
            }
        }
        guard let other = found.first else {
            return missing(name, "expected \(Self.expected(size))", cause: .noDepth)
        }
        return missing(name, "found \(other); expected \(Self.expected(size))")
    }

    /// What `depth.f32` holds.
    private static func expected(_ size: DepthSize?, insteadOf kind: FileKind? = nil) -> String {
        let form = "raw Float32 little-endian samples in metres"
        guard let size else { return form }
        let isOther = kind?.png.map { ($0.width, $0.height) != (size.width, size.height) } ?? false
        return "\(form), \(size.byteCount) bytes (4 x \(size.width) x \(size.height))"
            + (isOther ? "; the PNG is not \(size)" : "")
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
        let expected = isFloats ? Self.expected(size, insteadOf: kind) : "what its ending says"
        return BundleError(
            isFloats ? .rawCapture : .rawDepth, "looks like \(kind.words); expected \(expected)", file: file,
            cause: .otherDepth)
    }
}

extension FileKind {
    /// What can be done with a photo of this kind.
    var photoForm: String {
        if family == .heif { return "heic" }
        if format == .png { return "png" }
        return [.picture, .depthPicture].contains(family) ? "picture" : ""
    }
}
