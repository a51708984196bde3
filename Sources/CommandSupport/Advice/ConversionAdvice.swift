import CaptureBundle
import CaptureImport
import CaptureNative
import SystemPackage

/// What to do with files of another kind or name than a raw capture needs.
extension BundleError {
    var adviceOnPhoto: [String] {
        switch cause {
        case .otherPhoto: adviceOnOtherPhoto
        case .severalPhotos:
            PatternProposal(path.folder).map { [$0.advice] }
                ?? (values.isEmpty
                    ? ["if the folder holds one capture, rename its photo to photo.jpg"] : adviceOnOtherPhoto)
        case .notDownloaded: ["download the photo first"]
        case .brokenPhoto: ["leave out --rewrite-photo, and pack it with --keep-photo-location"]
        case .otherHash: ["this is not the photo that the app signed; export the capture again"]
        default: []
        }
    }

    /// The file whose name is the last value, in the folder of the error's file; without a value, the error's file.
    private func found(_ values: ArraySlice<String>) -> FilePath {
        values.last.map { path.folder.appending($0) } ?? path
    }

    private var adviceOnOtherPhoto: [String] {
        if values.first == "picture" { return ["convert a copy to JPEG and save it as \(word(path))"] }
        guard let form = values.first, form == "heic" || form == "png" else { return [] }
        let (file, folder) = (found(values.dropFirst()), path.folder)
        let own = folder.appending("photo.\(form)")
        let isTaken = file == path || file == own
        return
            (form == "heic" ? ["an iPhone takes JPEG photos with Settings > Camera > Formats > Most Compatible"] : [])
            + (isTaken ? [] : [renaming(file, to: own)]) + [
                (isTaken ? "" : "then ") + "to make a JPEG of this one and carry the original: "
                    + "capbundle pack \(word(folder)) --convert-photo -o FILE"
            ]
    }

    var adviceOnDepth: [String] {
        let alone = "use --no-depth to pack the photo alone"
        switch cause {
        case .noDepth: return ["use --no-depth to pack a capture without a depth map"]
        case .noDepthInside: return (packing(path.folder) ?? []) + [alone]
        case .rewrittenPhoto:
            return (packing(path.folder) ?? []) + ["pack the file that the phone wrote", alone]
        case .severalDepths:
            return values.map { "keep one of them, or choose one: capbundle pack RAW --photo photo.jpg --depth \($0)" }
        case .otherDepth: return adviceOnOtherDepth(found(values[...]))
        case .numpyArchive: return unpackingArrays(path)
        case .otherUnicode: return ["give both names the same form, for example with convmv"]
        case .depthLength: return adviceOnDepthLength
        case .largeUnit:
            return ["it is the number of metres in one unit" + values.map { ": --depth-scale \($0)" }.joined()]
        default: return []
        }
    }

    /// For raw samples with another length than expected.
    private var adviceOnDepthLength: [String] {
        let numbers = values.compactMap { Int($0) }
        guard numbers.count == 3, let size = DepthSize(width: numbers[1], height: numbers[2]) else { return [] }
        let (length, samples) = (numbers[0], size.width * size.height)
        let encodings = [2: "Float16, or UInt16 in millimetres", 8: "Float64", 1: "8-bit values, which are not metres"]
        if length % samples == 0, let encoding = encodings[length / samples] {
            let each = length == samples ? "1 byte" : "\(length / samples) bytes"
            return ["\(each) for each sample of \(size) may be \(encoding); depth.f32 has Float32 in metres"]
        }
        // Sides of the depth maps that iPhones and iPads give, and of common sensors.
        let usual = [
            (256, 192), (320, 180), (320, 240), (576, 432), (640, 480), (768, 576), (1024, 768), (1920, 1440),
        ]
        guard let (width, height) = usual.first(where: { 4 * $0.0 * $0.1 == length }) else { return [] }
        return [
            "that is the length of \(width)x\(height) or \(height)x\(width) samples; correct the size in metadata.json "
                + "(depth_map_dimensions) or in --depth-size"
        ]
    }

    private func adviceOnOtherDepth(_ file: FilePath) -> [String] {
        guard let kind = FileKind(file: file) else { return [] }
        let ending: String
        switch (kind.family, kind.format) {
        case (.numpy, let format?), (.depthPicture, let format?): ending = format.rawValue
        case (.zip, _) where file.ending == "npz": return unpackingArrays(file)
        case (.compressed, let format?) where file.stem?.contains(".") == true:
            return ["unpack it first: \(format.rawValue) -d \(word(file))"]
        case (_, .gzip): ending = "gz"
        case (_, .rosDepth): return ["to take its PNG out: tail -c +13 \(word(file)) > FILE"]
        case (.picture, _), (.jpeg, _), (.heif, _):
            return ["a picture does not hold the measured metres; export the depth map itself"]
        default: return []
        }
        return [renaming(file, to: path.folder.appending("depth.\(ending)"))]
            + (ending == "png" ? ["integers in depth.png are millimetres; --depth-scale METRES says otherwise"] : [])
    }
}

extension FileKind {
    /// For a file where a raw folder was expected.
    static func advice(insteadOfARawFolder path: FilePath) -> [String] {
        let kind = FileKind(file: path)
        switch (kind?.family, kind?.format) {
        case (.bundle, _): return ["it is packed already; to check it: capbundle verify \(word(path))"]
        case (.uploadBody, _):
            return ["to restore the bundle from this upload body: capbundle from-body \(word(path)) -o FILE"]
        case (.compressed, let format?): return [FileKind.unpacking(path, format)]
        case (_, .rosBag), (_, .rosDepth): return ["Samples/rosbag of capture-bundle makes raw folders of a ROS bag"]
        case (_, .sevenZip): return ["unpack it first: 7z x \(word(path))"]
        case (_, .lz4): return ["unpack it first: lz4 -d \(word(path))"]
        case (_, .matroska): return ["take its pictures and depth maps out, with ffmpeg or the tools of the camera"]
        case (_, .matlab): return ["save its depth map as an array of NumPy, beside photo.jpg"]
        default:
            if ["svo", "svo2"].contains(path.extension) { return ["export its frames as files with the ZED SDK"] }
            return packing(path.folder)
                ?? ["RAW is a folder, an archive, or a photo with its depth map inside; see capbundle pack --help"]
        }
    }
}

/// The advice to pack a folder if it is a raw capture.
private func packing(_ folder: FilePath) -> [String]? { FolderContents(folder)?.packing.map { [$0] } }

/// The command that gives a file of a raw folder the name under which `pack` takes it, and overwrites nothing; words
/// without a command if the name is taken.
private func renaming(_ file: FilePath, to target: FilePath) -> String {
    guard !FileStatus.exists(target) else { return "pack would take it as \(target), but that file exists already" }
    return "rename it, so that pack takes it: mv -n \(word(file)) \(word(target))"
}

/// For an archive of NumPy arrays (`.npz`).
private func unpackingArrays(_ file: FilePath) -> [String] {
    let array = word(file.removingLastComponent().appending("depth.npy"))
    return ["to see its arrays: unzip -l \(word(file))", "to unpack one: unzip -p \(word(file)) NAME.npy > \(array)"]
}
