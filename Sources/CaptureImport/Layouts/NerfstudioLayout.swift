import CaptureBundle
import SystemPackage

/// `transforms.json` of nerfstudio, NeRFCapture or instant-ngp, which lists the frames with their photos and, for some, their depth maps
/// (Spec/raw-captures.md section 2.2). The format does not define the unit of the depth samples.
struct NerfstudioLayout: RawLayout {
    static let name = "nerfstudio"
    static let words = "a nerfstudio data set"

    private static let file: FilePath = "transforms.json"

    static func evidence(in tree: RawTree) -> String? { tree.has(file) ? file.string : nil }

    static func export(_ tree: RawTree) throws(BundleError) -> RawExport {
        let root = try ExportObject(tree.json(file, limit: FileLimits.scan), file: tree.label(file))
        guard let list = try root.array("frames") else { throw root.wrong("frames is missing, expected an array") }
        try FrameCount.check(list.count, in: tree)
        var paths: [FilePath] = []
        var objects: [ExportObject] = []
        for (index, value) in list.enumerated() {
            guard value.members != nil else {
                throw root.wrong("frames[\(index)] is \(value.kind), expected an object")
            }
            let object = try ExportObject(value, file: root.file)
            guard let path = try Self.path("file_path", of: object, index: index) else {
                throw root.wrong("frames[\(index)] has no file_path")
            }
            objects.append(object)
            // instant-ngp and NeRFCapture leave out the ending.
            let full =
                path.extension == nil
                ? [".png", ".jpg"].map { FilePath("\(path.string)\($0)") }.first(where: tree.has) : nil
            paths.append(full ?? path)
        }
        let names = try names(of: paths, root)
        let camera = try Camera(root)
        // The translations of the poses have the unit of the scaled depth maps, which is the metre. Without a depth map
        // their unit is unknown. It is also unknown if the poses were scaled separately (`applied_scale` is not 1).
        let arePosesMetric = try root.number("applied_scale") ?? 1 == 1
        // instant-ngp and NeRFCapture say what one unit of integers is.
        var scale: DepthScale?
        if case .number(let text) = root["integer_depth_scale"] { scale = DepthScale(text) }
        // By path: paths differ in their bytes, and Swift takes strings for equal that differ in their Unicode form.
        var facts: [FilePath: Result<FrameFacts, BundleError>] = [:]
        let frames = objects.enumerated().map { index, object in
            var frame = RawFrame(name: names[index], number: number(in: names[index]), photo: paths[index])
            frame.carried = [file]
            facts[paths[index]] = Result { () throws(BundleError) in
                let name = object["depth_file_path"] == nil ? "depth_path" : "depth_file_path"
                let depth = try path(name, of: object, index: index)
                frame.depth = depth.map { RawFrame.DepthFile(path: $0, scale: $0.ending == "png" ? scale : nil) }
                let intrinsics = try Camera(object).intrinsics(camera)
                let pose = try depth != nil && arePosesMetric ? pose(object, index) : nil
                return FrameFacts(intrinsics: intrinsics, pose: pose)
            }
            return frame
        }
        return RawExport(
            frames: frames,
            facts: { [facts, file = root.file] frame throws(BundleError) in
                guard let known = frame.photo.flatMap({ facts[$0] }) else {
                    throw BundleError(.rawCapture, "has no frame \(frame.name ?? "")", file: file)
                }
                return try known.get()
            })
    }
}

// MARK: - Paths and names

extension NerfstudioLayout {
    /// The path in a member; nil if the member is missing. A path that leaves the tree is refused.
    private static func path(_ name: String, of object: ExportObject, index: Int) throws(BundleError) -> FilePath? {
        guard let value = object[name] else { return nil }
        guard let text = value.text else {
            throw object.wrong("frames[\(index)]: \(name) is \(value.kind), expected a path")
        }
        let parts = text.pieces(by: "/")
        let path = FilePath(parts.filter { $0 != "." }.joined(separator: "/"))
        guard !text.hasPrefix("/"), !text.utf8.contains(0), !parts.contains(".."), !path.isEmpty,
            text.utf8.count <= 4096
        else {
            throw object.wrong(
                "frames[\(index)]: \(name) is \"\(text)\", expected a path in the folder of \(file)")
        }
        return path
    }

    /// The names of the frames: the file names of their photos without the ending. If two of them are equal, the names
    /// are the paths without the ending, with `-` for `/`.
    private static func names(of paths: [FilePath], _ root: ExportObject) throws(BundleError) -> [String] {
        func areDifferent(_ names: [String]) -> Bool { Set(names.map { Array($0.utf8) }).count == names.count }
        let stems = paths.map { $0.stem ?? $0.string }
        if areDifferent(stems) { return stems }
        let long = paths.map { path in
            path.removingLastComponent().appending(path.stem ?? "").string.pieces(by: "/").joined(separator: "-")
        }
        guard areDifferent(long) else { throw root.wrong("two frames have the same file_path") }
        return long
    }

    /// The digits at the end of a name, such as those of `frame_00012`.
    private static func number(in name: String) -> Int? {
        let digits = name.utf8.reversed().prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }.reversed()
        return String(decoding: digits, as: UTF8.self).number(digits: 1...18)
    }
}

// MARK: - Cameras

extension NerfstudioLayout {
    /// The members about the camera. They are in the frame, or at the top of the file for all frames.
    private struct Camera {
        private let object: ExportObject
        private let model: String?
        private let values: [Double?]
        private let sides: [Int?]

        /// The models whose `fl_x`, `fl_y`, `cx` and `cy` describe a pinhole camera, apart from its distortion.
        private static let pinholes = ["OPENCV", "PINHOLE", "SIMPLE_PINHOLE", "perspective"]

        init(_ object: ExportObject) throws(BundleError) {
            self.object = object
            model = object["camera_model"].map { $0.text ?? "" }
            values = [
                try object.number("fl_x"), try object.number("fl_y"), try object.number("cx"), try object.number("cy"),
            ]
            sides = [try object.side("w"), try object.side("h")]
        }

        /// The intrinsics; nil if the file does not give them or the camera is not a pinhole camera.
        ///
        /// - Parameter all: The members at the top of the file.
        func intrinsics(_ all: Camera) throws(BundleError) -> CameraIntrinsics? {
            if let model = model ?? all.model, !Self.pinholes.contains(model) { return nil }
            let values = zip(values, all.values).compactMap { $0 ?? $1 }
            let sides = zip(sides, all.sides).compactMap { $0 ?? $1 }
            guard values.count == 4, sides.count == 2 else { return nil }
            return try object.camera(
                fx: values[0], fy: values[1], cx: values[2], cy: values[3], size: (sides[0], sides[1]))
        }
    }

    private static func pose(_ frame: ExportObject, _ index: Int) throws(BundleError) -> CameraPose? {
        guard let rows = try frame.array("transform_matrix") else { return nil }
        let name = "frames[\(index)]: transform_matrix"
        guard rows.count == 4 else { throw frame.wrong("\(name) has \(rows.count) rows, expected 4") }
        var matrix: [Double] = []
        for row in rows { matrix += try frame.numbers(.array(row.elements ?? []), count: 4, name: "a row of \(name)") }
        return try frame.pose(matrix, name: name)
    }
}
