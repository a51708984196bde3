import CaptureBundle
import SystemPackage

/// Record3D's export "EXR + RGB": `metadata.json`, and for frame N `rgb/N.jpg` and `depth/N.exr` (Spec/raw-captures.md
/// section 2.2). N may have gaps. It is the index in the arrays of the metadata.
struct Record3DLayout: RawLayout {
    static let name = "record3d"
    static let words = "a Record3D export"

    private static let file: FilePath = "metadata.json"

    static func evidence(in tree: RawTree) -> String? {
        guard tree.has("rgb"), tree.has("depth"), tree.has(file) else { return nil }
        // `export` says what is wrong with a file that cannot be read.
        guard let root = try? tree.json(file, limit: FileLimits.scan) else { return "\(file), rgb, depth" }
        guard root["K"] != nil, root["w"] != nil, root["h"] != nil else { return nil }
        return "\(file) with K, w and h, rgb, depth"
    }

    static func export(_ tree: RawTree) throws(BundleError) -> RawExport {
        let photos = Set(try numbers(tree.list("rgb"), ending: ".jpg"))
        let depths = Set(try numbers(tree.list("depth"), ending: ".exr"))
        let numbers = photos.union(depths).sorted()
        try FrameCount.check(numbers.count, in: tree)
        let scan = try Scan(ExportObject(tree.json(file, limit: FileLimits.scan), file: tree.label(file)))
        let frames = numbers.map { number in
            var frame = RawFrame(name: String(number), number: number)
            frame.photo = photos.contains(number) ? FilePath("rgb/\(number).jpg") : nil
            frame.depth =
                depths.contains(number)
                ? RawFrame.DepthFile(path: FilePath("depth/\(number).exr"), scale: .metres) : nil
            frame.carried = [file]
            return frame
        }
        return RawExport(
            frames: frames, app: "Record3D",
            facts: { [first = numbers[0]] frame throws(BundleError) in
                try scan.facts(of: frame.number ?? first, first: first)
            })
    }

    /// The numbers in names such as `17.jpg`. They have no leading zeros, so each number has one name.
    private static func numbers(_ names: [FilePath.Component], ending: String) -> [Int] {
        let texts = names.compactMap { $0.string.rest(before: ending) }
        return texts.compactMap { text in text.number(digits: 1...18).flatMap { String($0) == text ? $0 : nil } }
    }
}

/// The contents of `metadata.json`.
private struct Scan: Sendable {
    private let object: ExportObject
    private let size: (width: Int, height: Int)
    /// The camera of the first frame: 9 numbers, column-major.
    private let k: [Double]
    private let cameras: [JSONValue]
    private let poses: [JSONValue]
    private let times: [JSONValue]
    private let hasPoses: Bool

    private static let origin: [Double?] = [0, 0, 0, 1, 0, 0, 0]

    init(_ object: ExportObject) throws(BundleError) {
        self.object = object
        guard let width = try object.side("w"), let height = try object.side("h"),
            let k = try object.numbers("K", count: 9)
        else { throw object.wrong("K, w or h is missing") }
        guard k[1] == 0, k[2] == 0, k[3] == 0, k[5] == 0, k[8] == 1 else {
            throw object.wrong("K is not a column-major matrix fx, 0, 0, 0, fy, 0, cx, cy, 1")
        }
        (self.k, size) = (k, (width, height))
        cameras = try object.array("perFrameIntrinsicCoeffs") ?? []
        poses = try object.array("poses") ?? []
        times = try object.array("frameTimestamps") ?? []
        // Recordings with the front camera have no poses. The app then writes the same pose for all frames.
        hasPoses = poses.contains { $0.elements?.map(\.finite) != Self.origin }
    }

    func facts(of number: Int, first: Int) throws(BundleError) -> FrameFacts {
        var facts = FrameFacts()
        facts.intrinsics = try camera(of: number)
        facts.pose = try hasPoses ? pose(of: number) : nil
        if let start = try time(of: first), let time = try time(of: number) { facts.clock = .elapsed(time - start) }
        return facts
    }

    /// The frame's own fx, fy, cx, cy, else the camera of the first frame.
    private func camera(of number: Int) throws(BundleError) -> CameraIntrinsics {
        guard cameras.indices.contains(number) else {
            return try object.camera(fx: k[0], fy: k[4], cx: k[6], cy: k[7], size: size)
        }
        let four = try object.numbers(cameras[number], count: 4, name: "perFrameIntrinsicCoeffs[\(number)]")
        return try object.camera(fx: four[0], fy: four[1], cx: four[2], cy: four[3], size: size)
    }

    private func pose(of number: Int) throws(BundleError) -> CameraPose? {
        guard poses.indices.contains(number) else { return nil }
        let seven = try object.numbers(poses[number], count: 7, name: "poses[\(number)]")
        guard let pose = CameraPose(quaternion: Array(seven[..<4]), translation: Array(seven[4...])) else {
            throw object.wrong("poses[\(number)] does not begin with a quaternion x, y, z, w of length 1")
        }
        return pose
    }

    private func time(of number: Int) throws(BundleError) -> Double? {
        guard times.indices.contains(number) else { return nil }
        guard let seconds = times[number].finite, abs(seconds) <= 1e11 else {
            throw object.wrong("frameTimestamps[\(number)] is not a number of seconds")
        }
        return seconds
    }
}

/// Recognises a recording in Record3D's own format, and refuses it: its depth maps are compressed with LZFSE. The app
/// can export the recording in another form.
struct R3DLayout: RawLayout {
    static let name = "r3d"
    static let words = "a recording in Record3D's own format (.r3d)"

    static func evidence(in tree: RawTree) -> String? {
        tree.has("metadata") && tree.has("rgbd") ? "metadata, rgbd" : nil
    }

    static func export(_ tree: RawTree) throws(BundleError) -> RawExport {
        throw BundleError(
            .rawLayout, "is \(words), whose depth maps cannot be read, because they are compressed with LZFSE",
            file: tree.root, cause: .recording)
    }
}
