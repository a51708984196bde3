import CaptureBundle
import SystemPackage

/// The export "All Data" of 3D Scanner App: `info.json`, and for frame N `frame_N.json`, `depth_N.png` and `conf_N.png`.
/// Some frames also have a photo, `frame_N.jpg` (Spec/raw-captures.md section 2.2).
struct ScannerAppLayout: RawLayout {
    static let name = "3d-scanner-app"
    static let words = "a 3D Scanner App export"

    private static let infoFile: FilePath = "info.json"
    private static let infoLimit = 1 << 20
    private static let frameLimit = 64 << 10

    static func evidence(in tree: RawTree) -> String? {
        guard tree.holds(infoFile), let frame = tree.names().first(where: { digits(of: $0) != nil }) else { return nil }
        return "\(infoFile), \(frame)"
    }

    static func export(_ tree: RawTree) throws(BundleError) -> RawExport {
        let names = tree.names()
        let held = Set(names)
        let numbers = names.compactMap(digits)
        try FrameCount.check(numbers.count, in: tree)
        let frames = numbers.map { frame($0, held: held, tree: tree) }
            .sorted { ($0.frame.number ?? 0) < ($1.frame.number ?? 0) }
        return try RawExport(frames: dated(frames), app: app(tree))
    }

    /// The digits in a name such as `frame_00003.json`; nil for any other name.
    private static func digits(of name: FilePath.Component) -> String? {
        guard let digits = name.string.rest(after: "frame_")?.rest(before: ".json"), digits.isFrameNumber else {
            return nil
        }
        return digits
    }

    private static func app(_ tree: RawTree) throws(BundleError) -> String {
        let info = try ExportObject(reading: infoFile, in: tree, limit: infoLimit)
        guard let version = info["appVersionString"]?.text, version.isVersion else { return "3D Scanner App" }
        return "3D Scanner App \(version)"
    }
}

// MARK: - One frame

extension ScannerAppLayout {
    /// A frame, and the times in its file.
    private struct Timed {
        var frame: RawFrame
        /// What is wrong with its file.
        var fault: BundleError?
        /// The clock of the device: seconds since the device was started.
        var uptime: Double?
        /// The time of the last position fix in seconds since 1970. It is never later than the frame.
        var fix: Double?
    }

    private static func frame(_ digits: String, held: Set<FilePath.Component>, tree: RawTree) -> Timed {
        func path(_ name: String) -> FilePath? {
            FilePath.Component(name).flatMap { held.contains($0) ? FilePath(root: nil, components: $0) : nil }
        }
        let json = FilePath("frame_\(digits).json")
        var timed = Timed(frame: RawFrame(name: digits, number: Int(digits), photo: path("frame_\(digits).jpg")))
        timed.frame.depth = path("depth_\(digits).png").map { RawFrame.DepthFile(path: $0, scale: .millimetres) }
        timed.frame.confidence = path("conf_\(digits).png")
        timed.frame.carried = [json, infoFile]
        do {
            let object = try ExportObject(reading: json, in: tree, limit: frameLimit)
            timed.uptime = try time("time", object)
            timed.frame.facts.intrinsics = try intrinsics(object)
            timed.frame.facts.pose = try object.numbers("cameraPoseARFrame", count: 16).map {
                matrix throws(BundleError) in try object.pose(matrix, name: "cameraPoseARFrame")
            }
            if case .bool(true) = object["hasGPS"] {
                timed.fix = try time("gpsTime", object)
                timed.frame.facts.location = try location(object)
            }
        } catch {
            timed.fault = error
        }
        return timed
    }

    /// The value of a member that is a number of seconds, from 0 to the end of the year 9999.
    private static func time(_ name: String, _ object: ExportObject) throws(BundleError) -> Double? {
        guard let seconds = try object.number(name) else { return nil }
        guard (0...253_402_300_799).contains(seconds) else {
            throw object.wrong("\(name) is \(seconds), expected seconds")
        }
        return seconds
    }

    /// The camera, from the row-major matrix `intrinsics` in pixels of the photo. The file does not contain the size of
    /// the photo.
    private static func intrinsics(_ object: ExportObject) throws(BundleError) -> CameraIntrinsics? {
        guard let k = try object.numbers("intrinsics", count: 9) else { return nil }
        guard k[1] == 0, k[3] == 0, k[6] == 0, k[7] == 0, k[8] == 1 else {
            throw object.wrong("intrinsics are not a row-major matrix fx, 0, cx, 0, fy, cy, 0, 0, 1")
        }
        return try object.camera(fx: k[0], fy: k[4], cx: k[2], cy: k[5], size: nil)
    }

    /// The members of our `location`, with the digits of the file. A negative accuracy means that the value is not valid
    /// (Apple: CLLocation).
    private static func location(_ object: ExportObject) throws(BundleError) -> JSONValue? {
        func isKnown(_ accuracy: String) throws(BundleError) -> Bool {
            try object.number(accuracy).map { $0 >= 0 } ?? true
        }
        guard try isKnown("horizontalAccuracy") else { return nil }
        let location = JSONValue.members([
            "latitude": object["latitude"], "longitude": object["longitude"],
            "altitude": try isKnown("verticalAccuracy") ? object["altitude"] : nil,
            "accuracy": object["horizontalAccuracy"],
        ])
        do { _ = try GeoPosition(location) } catch { throw object.wrong("the position: \(error.message)") }
        return location
    }
}

// MARK: - Time

extension ScannerAppLayout {
    /// Gives each frame its time: the reading of the device's clock plus one offset for all frames. A fix is never later
    /// than its frame, so each `fix - uptime` is at most the true offset, and the largest of them is the best estimate.
    private static func dated(_ frames: [Timed]) -> [RawFrame] {
        let offset = frames.compactMap { frame in frame.fix.flatMap { fix in frame.uptime.map { fix - $0 } } }.max()
        // Without a fix, times count from the first frame. If its file is broken, no frame has a time.
        let fault = offset == nil ? frames.first?.fault : nil
        let start = frames.lazy.compactMap(\.uptime).first
        return frames.map { timed in
            var frame = timed.frame
            // A frame without a photo is not packed, so it cannot fail.
            if frame.photo != nil { frame.problem = timed.fault ?? fault }
            guard let uptime = timed.uptime, let start else { return frame }
            if let offset {
                let time = CaptureTime(milliseconds: Int(((uptime + offset) * 1000).rounded(.down)))
                frame.facts.clock = time.map { .time($0.description) } ?? .none
            } else {
                frame.facts.clock = .elapsed(uptime - start)
            }
            return frame
        }
    }
}
