import CaptureNative
import SystemPackage

/// The file that is converted. If it has the name of the result, it is moved away first.
private struct Original {
    /// Where it is when it is converted, for a shell.
    let word: String
    /// The first part of the command.
    let moving: String

    /// - Parameter name: what it is called after it was moved, if nothing has that name yet.
    init(_ file: FilePath, to target: FilePath, _ name: (stem: String, ending: String)) {
        guard file == target else {
            (word, moving) = (ShellWord.quote(file), "")
            return
        }
        var kept = target.folder.appending("\(name.stem).\(name.ending)")
        var count = 0
        while FileStatus.exists(kept) {
            count += 1
            let number = count == 1 ? "" : "-\(count)"
            kept = target.folder.appending("\(name.stem).original\(number).\(name.ending)")
        }
        word = ShellWord.quote(kept)
        // It stops if the name was taken since. `mv -n` would move nothing and succeed.
        moving = "[ ! -e \(word) ] && mv \(ShellWord.quote(target)) \(word) && "
    }
}

/// How a photo of another kind becomes a JPEG.
enum PhotoAdvice {
    /// - Parameters:
    ///   - file: the photo of another kind.
    ///   - target: where the JPEG is expected; may be the same.
    static func hints(at file: FilePath, _ kind: FileKind, to target: FilePath) -> [String] {
        let jpeg = ShellWord.quote(target)
        guard kind.family == .heif else {
            guard [.picture, .depthPicture].contains(kind.family) else { return [] }
            return ["convert a copy to JPEG and save it as \(jpeg)"]
        }
        let camera = "an iPhone takes JPEG photos with Settings > Camera > Formats > Most Compatible"
        let original = Original(file, to: target, ("photo", "heic"))
        let converting = "\(original.moving)heif-convert \(original.word) \(jpeg)"
        return [camera, "to convert this one (Debian: libheif-examples): \(converting)"]
    }
}

/// How a depth map of another form becomes `depth.f32`.
enum DepthAdvice {
    /// What this version takes.
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
    static func hints(length: Int, _ size: DepthSize) -> [String] {
        let samples = size.width * size.height
        let encodings = [2: "Float16, or UInt16 in millimetres", 8: "Float64", 1: "8-bit values, which are not metres"]
        if length % samples == 0, let encoding = encodings[length / samples] {
            let each = length == samples ? "1 byte" : "\(length / samples) bytes"
            return ["\(each) for each sample of \(size) may be \(encoding); this version takes Float32 in metres"]
        }
        guard let (width, height) = usual.first(where: { 4 * $0.0 * $0.1 == length }) else { return [] }
        return [
            "that is the length of \(width)x\(height) or \(height)x\(width) samples; "
                + "correct the size in metadata.json (depth_map_dimensions) or in --depth-size"
        ]
    }

    /// For a file of another kind.
    ///
    /// - Parameter target: where the samples are expected; may be the same file.
    static func hints(at file: FilePath, _ kind: FileKind, to target: FilePath) -> [String] {
        let to = ShellWord.quote(target)
        // The original is kept under its right name.
        let ending = kind.family == .numpy ? "npy" : kind.words.contains("PNG") ? "png" : "tiff"
        let original = Original(file, to: target, ("depth", ending))
        let (from, moving) = (original.word, original.moving)
        func python(_ imports: String, _ samples: String) -> String {
            "\(moving)python3 -c '\(imports); \(samples).astype(\"<f4\").tofile(sys.argv[2])' \(from) \(to)"
        }
        let packages = " (Debian: python3-numpy python3-pil)"
        let pillow = "import sys, numpy; from PIL import Image"
        let read = "(numpy.asarray(Image.open(sys.argv[1]))"
        switch kind.family {
        case .numpy:
            let isInteger = ["<u", ">u", "|u", "<i", ">i", "|i"].contains { kind.words.contains("type \($0)") }
            let scale = isInteger ? " / 1000" : ""
            let unit = isInteger ? " from millimetres" : ""
            return [
                "to convert it\(unit) (Debian: python3-numpy): "
                    + python("import sys, numpy", "(numpy.load(sys.argv[1])\(scale))")
            ]
        case .depthPicture where kind.words.contains("PNG"):
            return ["to convert it from millimetres\(packages): " + python(pillow, read + " / 1000)")]
        case .depthPicture where kind.words.contains("TIFF"):
            return ["to convert it, if it is in metres\(packages): " + python(pillow, read + ")")]
        case .compressed where file != target && kind.words.contains("gzip"):
            return ["to unpack it: gzip -dc \(from) > \(to)"]
        case .picture, .jpeg, .heif:
            return ["a picture does not hold the measured metres; export the depth map itself"]
        default: return []
        }
    }
}
