import CaptureBundle
import CaptureNative
import SystemPackage

/// The command that gives a file of a raw folder the name under which `pack` takes it, and overwrites nothing; words
/// without a command if the name is taken.
private func renaming(_ file: FilePath, to target: FilePath) -> Hint {
    guard !FileStatus.exists(target) else { return "pack would take it as \(target), but that file exists already" }
    return "rename it, so that pack takes it: mv -n \(ShellWord.quote(file)) \(ShellWord.quote(target))"
}

extension FileKind {
    /// For a file where a raw folder was expected.
    static func hints(insteadOfARawFolder path: FilePath, _ kind: FileKind?) -> [Hint] {
        switch (kind?.family, kind?.format) {
        case (.bundle, _): return [.verify(path, .isPacked)]
        case (.uploadBody, _): return [.restore(path)]
        case (.compressed, let format?): return [unpacking(path, format)]
        case (_, .rosBag), (_, .rosDepth): return ["Samples/rosbag of capture-bundle makes raw folders of a ROS bag"]
        case (_, .sevenZip): return ["unpack it first: 7z x \(ShellWord.quote(path))"]
        case (_, .lz4): return ["unpack it first: lz4 -d \(ShellWord.quote(path))"]
        case (_, .matroska): return ["take its pictures and depth maps out, with ffmpeg or the tools of the camera"]
        case (_, .matlab): return ["save its depth map as an array of NumPy, beside photo.jpg"]
        default:
            if ["svo", "svo2"].contains(path.extension) { return ["export its frames as files with the ZED SDK"] }
            return FolderContents(path.folder)?.packing ?? [.raw(.forms)]
        }
    }
}

/// What to do with a photo of another kind.
enum PhotoAdvice {
    /// - Parameters:
    ///   - file: the photo of another kind.
    ///   - target: where the JPEG is expected; may be the same.
    static func hints(at file: FilePath, _ kind: FileKind, to target: FilePath) -> [Hint] {
        let isHEIC = kind.family == .heif
        guard isHEIC || kind.format == .png else {
            guard [.picture, .depthPicture].contains(kind.family) else { return [] }
            return ["convert a copy to JPEG and save it as \(ShellWord.quote(target))"]
        }
        let camera: Hint = "an iPhone takes JPEG photos with Settings > Camera > Formats > Most Compatible"
        let own = target.folder.appending(isHEIC ? "photo.heic" : "photo.png")
        let isTaken = file == target || file == own
        let converting = Hint.raw(.convertPhoto(target.folder, isNext: !isTaken))
        return (isHEIC ? [camera] : []) + (isTaken ? [] : [renaming(file, to: own)]) + [converting]
    }
}

/// What to do with a depth map of another form.
enum DepthAdvice {
    /// What `depth.f32` holds.
    static func expected(_ size: DepthSize?, insteadOf kind: FileKind? = nil) -> String {
        let form = "raw Float32 little-endian samples in metres"
        guard let size else { return form }
        let isOther = kind?.png.map { ($0.width, $0.height) != (size.width, size.height) } ?? false
        return "\(form), \(size.byteCount) bytes (4 x \(size.width) x \(size.height))"
            + (isOther ? "; the PNG is not \(size)" : "")
    }

    /// Sides of the depth maps that iPhones and iPads give, and of common sensors.
    private static let usual = [
        (256, 192), (320, 180), (320, 240), (576, 432), (640, 480), (768, 576), (1024, 768), (1920, 1440),
    ]

    /// For a file of raw samples with another length than expected.
    static func hints(length: Int, _ size: DepthSize) -> [Hint] {
        let samples = size.width * size.height
        let encodings = [2: "Float16, or UInt16 in millimetres", 8: "Float64", 1: "8-bit values, which are not metres"]
        if length % samples == 0, let encoding = encodings[length / samples] {
            let each = length == samples ? "1 byte" : "\(length / samples) bytes"
            return ["\(each) for each sample of \(size) may be \(encoding); depth.f32 has Float32 in metres"]
        }
        guard let (width, height) = usual.first(where: { 4 * $0.0 * $0.1 == length }) else { return [] }
        let sides = "\(width)x\(height) or \(height)x\(width)"
        return [
            "that is the length of \(sides) samples; correct the size in metadata.json (depth_map_dimensions) or in \(.depthSize)"
        ]
    }

    /// For an archive of NumPy arrays (`.npz`).
    static func unpacking(_ file: FilePath) -> [Hint] {
        let word = ShellWord.quote(file)
        let array = ShellWord.quote(file.removingLastComponent().appending("depth.npy"))
        return ["to see its arrays: unzip -l \(word)", "to unpack one: unzip -p \(word) NAME.npy > \(array)"]
    }

    /// For a file of another kind.
    ///
    /// - Parameter target: where the samples are expected; may be the same file.
    static func hints(at file: FilePath, _ kind: FileKind, to target: FilePath) -> [Hint] {
        let ending: String
        switch (kind.family, kind.format) {
        case (.numpy, let format?), (.depthPicture, let format?): ending = format.rawValue
        case (.zip, _) where file.ending == "npz": return unpacking(file)
        case (.compressed, let format?) where file.stem?.contains(".") == true:
            return ["unpack it first: \(format.rawValue) -d \(ShellWord.quote(file))"]
        case (_, .gzip): ending = "gz"
        case (_, .rosDepth): return ["to take its PNG out: tail -c +13 \(ShellWord.quote(file)) > FILE"]
        case (.picture, _), (.jpeg, _), (.heif, _):
            return ["a picture does not hold the measured metres; export the depth map itself"]
        default: return []
        }
        let unit: Hint = "integers in depth.png are millimetres; \(.depthScale) METRES says otherwise"
        return [renaming(file, to: target.folder.appending("depth.\(ending)"))] + (ending == "png" ? [unit] : [])
    }
}
