import CaptureBundle
import CaptureNative
import SystemPackage

/// The command that gives a file of a raw folder the name under which `pack` takes it, and overwrites nothing; words
/// without a command if the name is taken.
private func renaming(_ file: FilePath, to target: FilePath) -> Hint {
    guard !FileStatus.exists(target) else { return "pack would take it as \(target), but that file exists already" }
    return "rename it, so that pack takes it: mv -n \(ShellWord.quote(file)) \(ShellWord.quote(target))"
}

/// What to do with a photo of another kind.
enum PhotoAdvice {
    /// - Parameters:
    ///   - file: the photo of another kind.
    ///   - target: where the JPEG is expected; may be the same.
    static func hints(at file: FilePath, _ kind: FileKind, to target: FilePath) -> [Hint] {
        let isHEIC = kind.family == .heif
        guard isHEIC || kind.isPNG else {
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
        let length = size.map { ", \($0.byteCount) bytes (4 x \($0.width) x \($0.height))" } ?? ""
        let words = kind?.words ?? ""
        let sides = size.map { "\($0.width)x\($0.height)" } ?? ""
        let isOther = !sides.isEmpty && words.contains("PNG, ") && !words.hasSuffix(", \(sides)")
        return "raw Float32 little-endian samples in metres\(length)" + (isOther ? "; the PNG is not \(sides)" : "")
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
        switch kind.family {
        case .numpy: ending = "npy"
        case .zip where file.ending == "npz": return unpacking(file)
        case .depthPicture:
            ending = ["PNG", "TIFF", "OpenEXR", "PGM"].first { kind.words.contains($0) }?.lowercased() ?? "pfm"
        case .compressed where file.stem?.contains(".") == true:
            return ["unpack it first: gzip -d \(ShellWord.quote(file))"]
        case .compressed where kind.words.contains("gzip"): ending = "gz"
        case .document where kind.words.contains("compressedDepth"):
            return ["to take its PNG out: tail -c +13 \(ShellWord.quote(file)) > FILE"]
        case .picture, .jpeg, .heif:
            return ["a picture does not hold the measured metres; export the depth map itself"]
        default: return []
        }
        let name = ending == "openexr" ? "depth.exr" : "depth.\(ending)"
        let unit: Hint = "integers in depth.png are millimetres; \(.depthScale) METRES says otherwise"
        return [renaming(file, to: target.folder.appending(name))] + (ending == "png" ? [unit] : [])
    }
}
