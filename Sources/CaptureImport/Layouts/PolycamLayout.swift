import CaptureBundle
import SystemPackage

/// Polycam's raw data. In `keyframes`, the files of frame T are `images/T.jpg`, `cameras/T.json`, `depth/T.png` and
/// `confidence/T.png` (Spec/raw-captures.md section 2.2). T is a number of microseconds.
struct PolycamLayout: RawLayout {
    static let name = "polycam"
    static let words = "raw data of Polycam"

    private static let images: FilePath = "keyframes/images"
    private static let cameras: FilePath = "keyframes/cameras"
    private static let depths: FilePath = "keyframes/depth"
    private static let confidences: FilePath = "keyframes/confidence"
    private static let mesh: FilePath = "mesh_info.json"
    private static let cameraLimit = 64 << 10

    static func evidence(in tree: RawTree) -> String? {
        tree.has(images) && tree.has(cameras) ? "\(images), \(cameras)" : nil
    }

    static func export(_ tree: RawTree) throws(BundleError) -> RawExport {
        let held = try [images, cameras, depths, confidences].map { folder throws(BundleError) in
            Set(try tree.list(folder))
        }
        let stems = Set(held[0].compactMap { stem($0, ".jpg") }).union(held[2].compactMap { stem($0, ".png") })
        try FrameCount.check(stems.count, in: tree)
        let scanFiles = tree.has(mesh) ? [mesh] : []
        let ordered = stems.map { (name: $0.string, time: Int($0.string) ?? 0) }
            .sorted { ($0.time, $0.name.utf8.count) < ($1.time, $1.name.utf8.count) }
        let first = ordered[0].time
        let frames = ordered.map { stem, time in
            func path(_ folder: FilePath, _ index: Int, ending: String) -> FilePath? {
                guard let name = FilePath.Component(stem + ending), held[index].contains(name) else { return nil }
                return folder.appending(name)
            }
            var frame = RawFrame(name: stem, number: time, photo: path(images, 0, ending: ".jpg"))
            frame.depth = path(depths, 2, ending: ".png").map { RawFrame.DepthFile(path: $0, scale: .millimetres) }
            frame.confidence = path(confidences, 3, ending: ".png")
            let camera = path(cameras, 1, ending: ".json")
            frame.carried = (camera.map { [$0] } ?? []) + scanFiles
            return frame
        }
        return RawExport(
            frames: frames, app: "Polycam",
            facts: { frame throws(BundleError) in
                let camera = cameras.appending("\(frame.name ?? "").json")
                var facts = try tree.has(camera) ? facts(camera, tree) : FrameFacts()
                facts.clock = .elapsed(Double((frame.number ?? 0) - first) / 1e6)
                return facts
            })
    }

    /// The digits in a name such as `1442008525605.jpg`; nil for any other name.
    private static func stem(_ name: FilePath.Component, _ ending: String) -> FilePath.Component? {
        guard let stem = name.string.rest(before: ending), stem.isFrameNumber else { return nil }
        return FilePath.Component(stem)
    }

    private static func facts(_ path: FilePath, _ tree: RawTree) throws(BundleError) -> FrameFacts {
        let object = try ExportObject(reading: path, in: tree, limit: cameraLimit)
        var facts = FrameFacts()
        if let fx = try object.number("fx"), let fy = try object.number("fy"), let cx = try object.number("cx"),
            let cy = try object.number("cy"), let width = try object.side("width"),
            let height = try object.side("height")
        {
            facts.intrinsics = try object.camera(fx: fx, fy: fy, cx: cx, cy: cy, size: (width, height))
        }
        // In t_00 to t_23, the first digit is the row and the second the column.
        var matrix: [Double] = []
        for place in 0..<12 {
            guard let element = try object.number("t_\(place / 4)\(place % 4)") else { return facts }
            matrix.append(element)
        }
        facts.pose = try object.pose(matrix + [0, 0, 0, 1], name: "t_00 to t_23")
        return facts
    }
}
