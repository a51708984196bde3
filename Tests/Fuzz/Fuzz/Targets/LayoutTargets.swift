import CaptureBundle
import SystemPackage

@testable import CaptureImport

/// The files of an export in memory.
private struct MemoryStorage: RawTreeStorage {
    let files: [FilePath: [UInt8]]

    func names(in folder: FilePath) -> [FilePath.Component] {
        Set(
            files.keys.compactMap { path in
                path.components.starts(with: folder.components)
                    ? path.components.dropFirst(folder.components.count).first : nil
            }
        ).sorted { $0.string < $1.string }
    }

    func has(_ path: FilePath) -> Bool { files.keys.contains { $0.components.starts(with: path.components) } }

    func read(_ path: FilePath, limit: Int, label: FilePath) throws(BundleError) -> [UInt8] {
        guard let bytes = files[path], bytes.count <= limit else {
            throw BundleError(.inputUnreadable, "cannot be read", file: label)
        }
        return bytes
    }
}

/// Reads an export whose JSON files are the input; the pictures are empty.
private func judge(
    _ layout: any RawLayout.Type, _ size: Int, texts: [(FilePath, [UInt8])], pictures: [FilePath]
) {
    let files = texts + pictures.map { ($0, []) }
    let tree = RawTree(root: "raw", storage: MemoryStorage(files: Dictionary(files) { _, last in last }))
    let frames = Cost.bounded(size) { () -> [(RawFrame, FrameFacts?)] in
        guard layout.evidence(in: tree) != nil, let export = try? layout.export(tree) else { return [] }
        return export.frames.map { ($0, try? export.facts($0)) }
    }
    for (frame, facts) in frames {
        let paths = [frame.photo, frame.depth?.path, frame.confidence].compactMap(\.self) + frame.carried
        expect(
            paths.allSatisfy { path in path.isRelative && !path.components.contains("..") },
            "a path leaves the export: \(paths)")
        expect(facts?.pose.map { $0.matrix.allSatisfy(\.isFinite) } ?? true, "a pose is not finite")
    }
}

/// 3D Scanner App: info.json and two frames, separated by NUL.
enum ScannerAppTarget: FuzzTarget {
    static let name = "scanner-app"

    static func seeds(_ samples: Samples) -> [[UInt8]] {
        let frame = """
            {"time": 1234.5, "hasGPS": true, "gpsTime": 1773497366.5, "latitude": 1.5, "longitude": 2.5, "altitude": 3, \
            "horizontalAccuracy": 4.5, "verticalAccuracy": -1, "intrinsics": [8, 0, 4, 0, 8, 4, 0, 0, 1], \
            "cameraPoseARFrame": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]}
            """
        return [Array("{\"appVersionString\": \"1.9.5\"}\0\(frame)\0{\"time\": 1235}".utf8)]
    }

    static func judge(_ bytes: [UInt8]) {
        let parts = bytes.split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false).map { Array($0) }
        let names: [FilePath] = ["info.json", "frame_00000.json", "frame_00001.json"]
        Fuzz.judge(
            ScannerAppLayout.self, bytes.count, texts: Array(zip(names, parts)),
            pictures: ["frame_00000.jpg", "depth_00000.png", "conf_00000.png", "frame_00001.jpg"])
    }
}

/// Record3D: metadata.json.
enum Record3DTarget: FuzzTarget {
    static let name = "record3d"

    static func seeds(_ samples: Samples) -> [[UInt8]] {
        [
            """
            {"w": 8, "h": 8, "K": [8, 0, 0, 0, 8, 0, 4, 4, 1], "perFrameIntrinsicCoeffs": [[8, 8, 4, 4], [8, 8, 4, 4]], \
            "poses": [[0, 0, 0, 1, 0, 0, 0], [0, 0, 0.6, 0.8, 1, 2, 3]], "frameTimestamps": [1.5, 2.5]}
            """
        ].map { Array($0.utf8) }
    }

    static func judge(_ bytes: [UInt8]) {
        Fuzz.judge(
            Record3DLayout.self, bytes.count, texts: [("metadata.json", bytes)],
            pictures: ["rgb/0.jpg", "rgb/1.jpg", "depth/0.exr", "depth/1.exr"])
    }
}

/// Polycam: the camera of a frame.
enum PolycamTarget: FuzzTarget {
    static let name = "polycam"

    static func seeds(_ samples: Samples) -> [[UInt8]] {
        [
            """
            {"fx": 8, "fy": 8, "cx": 4, "cy": 4, "width": 8, "height": 8, "t_00": 1, "t_01": 0, "t_02": 0, "t_03": 0, \
            "t_10": 0, "t_11": 1, "t_12": 0, "t_13": 0, "t_20": 0, "t_21": 0, "t_22": 1, "t_23": 0}
            """
        ].map { Array($0.utf8) }
    }

    static func judge(_ bytes: [UInt8]) {
        Fuzz.judge(
            PolycamLayout.self, bytes.count, texts: [("keyframes/cameras/100.json", bytes)],
            pictures: ["keyframes/images/100.jpg", "keyframes/depth/100.png", "keyframes/confidence/100.png"])
    }
}

/// nerfstudio: transforms.json.
enum NerfstudioTarget: FuzzTarget {
    static let name = "nerfstudio"

    static func seeds(_ samples: Samples) -> [[UInt8]] {
        let matrix = "[[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]"
        return [
            """
            {"camera_model": "OPENCV", "fl_x": 8, "fl_y": 8, "cx": 4, "cy": 4, "w": 8, "h": 8, "applied_scale": 1, \
            "frames": [{"file_path": "images/frame_1.jpg", "depth_file_path": "depth/1.png", "transform_matrix": \
            \(matrix)}, {"file_path": "./images/frame_2.jpg", "w": 4}]}
            """
        ].map { Array($0.utf8) }
    }

    static func judge(_ bytes: [UInt8]) {
        Fuzz.judge(NerfstudioLayout.self, bytes.count, texts: [("transforms.json", bytes)], pictures: [])
    }
}

/// Patterns and file names of any other folder: lines with the pattern of the photo, that of the depth, and names.
enum PatternTarget: FuzzTarget {
    static let name = "pattern"

    static func seeds(_ samples: Samples) -> [[UInt8]] {
        [
            "rgb/*.jpg\ndepth/*.png\nrgb/1.jpg\nrgb/2.jpg\ndepth/1.png", "photo.jpg\nd.png\nphoto.jpg",
            "a/b*c/d\na/*/e\na/b1c/d",
        ]
        .map { Array($0.utf8) }
    }

    static func judge(_ bytes: [UInt8]) {
        let lines = bytes.split(separator: 0x0a, omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
        guard lines.count > 2, let photo = NamePattern(lines[0]),
            let patterns = CapturePatterns(photo: photo, depth: NamePattern(lines[1]))
        else { return }
        let names = lines.dropFirst(2).map { FilePath($0) }.filter { $0.isRelative && !$0.isEmpty }
        let tree = RawTree(
            root: "raw", storage: MemoryStorage(files: Dictionary(names.map { ($0, []) }) { _, last in last }))
        let export = Cost.bounded(bytes.count) {
            try? GenericLayout(patterns: patterns, options: RawCaptureOptions()).export(tree)
        }
        for path in export?.frames.compactMap(\.photo) ?? [] {
            expect(tree.has(path), "the photo \(path) does not exist")
        }
    }
}
