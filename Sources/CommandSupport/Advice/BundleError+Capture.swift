package import CaptureBundle
import CaptureImport
import CaptureNative
import SystemPackage

extension BundleError.Cause {
    /// The values are the numbers of the first frames.
    package static let severalToShow = Self("frames.show")
}

extension BundleError {
    /// Advice about a raw capture.
    var adviceOnCapture: [String] { adviceOnLayout + adviceOnFacts + adviceOnPhoto + adviceOnDepth }

    private var adviceOnLayout: [String] {
        switch cause {
        case .noFolder: FileKind.advice(insteadOfARawFolder: path)
        case .noCapture: adviceOnFolder
        case .packedAlready:
            FileKind(file: path)?.format.map { ["to unpack it: \($0.rawValue) -dc \(word(path)) > cap.bundle"] } ?? []
        case .recording:
            [
                "in Record3D, export the recording as \"EXR + RGB\", and pack that folder: "
                    + "capbundle pack FOLDER --captured-at TIME --out-dir BUNDLES"
            ]
        case .scan: adviceOnScan
        case .noMatch:
            [proposal ?? "names are relative to RAW and * stands for a part without /; quote them: 'rgb/*.jpg'"]
        case .noPair: [proposal].compactMap(\.self)
        case .severalFrames:
            ["to pack them all, give --out-dir BUNDLES instead of -o FILE"]
                + values.map { "to pack one of them: --frames \($0)" }
        case .severalToShow:
            ["choose one with --frames NUMBER" + (values.isEmpty ? "" : ", such as \(values.joined(separator: ", "))")]
        case .noFrame:
            [values.first.map { "frames with a photo: \($0)" } ?? "its frames have no numbers, so leave out --frames"]
        default: []
        }
    }

    private var proposal: String? { PatternProposal(path)?.advice }

    /// For a folder that is not a capture, but may hold some.
    private var adviceOnFolder: [String] {
        let folder = path
        let names = ((try? Folders.names(in: folder)) ?? []).map(\.string).filter { !$0.hasPrefix(".") }
        let count = names.count { FileStatus.exists(folder.appending("\($0)/photo.jpg")) }
        var advice = FolderContents(folder)?.advice ?? []
        if count > 0, count == names.count {
            advice.insert(
                "it contains raw folders; to pack them all: capbundle pack \(word(folder))/* --out-dir BUNDLES", at: 0)
        } else if count > 0 {
            let (noun, pronoun) = count == 1 ? ("is a raw folder", "it") : ("are raw folders", "them")
            advice.insert(
                "of the \(names.count) files and folders in it, \(count) \(noun); to pack only \(pronoun): "
                    + "find \(word(folder)) -mindepth 2 -maxdepth 2 -name photo.jpg -printf '%h\\0' | "
                    + "capbundle pack --from0 --out-dir BUNDLES", at: 0)
        }
        return advice.isEmpty ? [proposal].compactMap(\.self) : advice
    }

    /// For a scan of Stray Scanner. An archive must be unpacked first.
    private var adviceOnScan: [String] {
        let isFolder = (try? FileStatus.of(path))?.kind == .folder
        let folder = isFolder ? word(path) : "SCAN"
        // Each depth map belongs to the video frame of the same number, so ffmpeg must not drop, repeat or rotate frames.
        return (isFolder ? [] : ["unpack it to a folder SCAN first"]) + [
            "to extract the photos (Debian package: ffmpeg): mkdir \(folder)/rgb && ffmpeg -noautorotate "
                + "-i \(folder)/rgb.mp4 -fps_mode passthrough -start_number 0 -q:v 2 \(folder)/rgb/%06d.jpg",
            "then, with one time for all frames: capbundle pack \(folder) --photo 'rgb/*.jpg' --depth 'depth/*.png' "
                + "--confidence 'confidence/*.png' --depth-unit mm --captured-at TIME --same-time "
                + "--device-model MODEL --out-dir BUNDLES",
        ]
    }

    private var adviceOnFacts: [String] {
        switch cause {
        case .byteOrderMark: ["to remove it: sed -i '1s/^\\xef\\xbb\\xbf//' \(word(path))"]
        case .noMetadata:
            [
                #"it needs at least: {"captured_at":"2026-03-14T15:09:26+01:00","device_model":"NAME","#
                    + #""depth_map_dimensions":{"width":256,"height":192}}"#
            ]
        case .otherName where path.lastComponent == "metadata.json":
            values.map { "if that describes the capture, \(renaming($0))" }
        case .otherName: values.map(renaming)
        case .noTime: timeInName(values.dropFirst())
        case .noOwnTime:
            timeInName(values.dropFirst()) + [
                "if one time is right for all frames: \(values.first == "" ? "--captured-at TIME " : "")--same-time"
            ]
        case .nameIsNoTime:
            values.isEmpty
                ? ["the name is what * matches, or what the layout calls the frame"] : timeInName(values[...])
        case .noDate: ["give the time of its first frame, from which the other times are computed: \(timeOption)"]
        case .oneTime: ["pack each with its own time, or add --same-time if one is right for all"]
        case .positionInMetadata: ["remove the member, or give it another name"]
        case .positionInSources: ["leave them out: pack without --keep-source"]
        default: []
        }
    }

    private func renaming(_ found: String) -> String {
        "rename it: mv \(word(path.folder.appending(found))) \(word(path))"
    }

    /// - Parameter form: The form of the time, and "local" if it has no zone; empty if the name is not a time.
    private func timeInName(_ form: ArraySlice<String>) -> [String] {
        guard let form = form.first.flatMap({ NameTimeForm(rawValue: $0) }) else { return [] }
        let zone = values.last == "local" ? " \(zoneOption)" : ""
        return ["the name is \(form.words): --time-from-name \(form.rawValue)\(zone)"]
    }

    /// Advice that names an option which only `capbundle pack` has.
    var adviceOnPackOptions: [String] {
        func give(_ option: String, _ member: String) -> [String] {
            values.first.map { ["give it: \(option)" + ($0 == "capbundle" ? " or \(member) in metadata.json" : "")] }
                ?? []
        }
        let anyway = "to pack it anyway: --keep-photo-location"
        return switch cause {
        case .unknownLayout:
            [
                proposal
                    ?? "other folders need the names of their files: --photo PATTERN --depth PATTERN --depth-unit m|mm"
            ]
        case .notConverted: ["to make a JPEG of it and carry the original: --convert-photo"]
        case .positionInPhoto: ["to drop this without encoding the photo again: --rewrite-photo", anyway]
        case .positionInMetadata, .positionInSources: [anyway]
        case .noDepthSize where code == .rawDepth: ["give them: --depth-size WIDTHxHEIGHT"]
        case .noDepthSize: ["add it, or give the size with --depth-size WIDTHxHEIGHT"]
        case .noMetadata: ["give it: \(timeOption)"]
        case .noTime: give(timeOption, "captured_at")
        case .noModel: give("--device-model NAME", "device_model")
        case .noZone: ["give the time zone: \(zoneOption)"]
        case nil where code == .rawUnit: ["give the unit: --depth-unit m, --depth-unit mm or --depth-scale METRES"]
        default: []
        }
    }
}

private let timeOption = "--captured-at TIME, such as 2026-03-14T15:09:26+01:00"
private let zoneOption = "--time-zone +HH:MM"
