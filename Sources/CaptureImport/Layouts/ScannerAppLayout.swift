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
        guard tree.has(infoFile), let frame = tree.names().first(where: { digits(of: $0) != nil }) else { return nil }
        return "\(infoFile), \(frame)"
    }

    static func export(_ tree: RawTree) throws(BundleError) -> RawExport {
        let names = tree.names()
        let held = Set(names)
        let numbers = names.compactMap(digits).sorted { (Int($0) ?? 0) < (Int($1) ?? 0) }
        try FrameCount.check(numbers.count, in: tree)
        var clocks: [Clock] = []
        var frames = numbers.map { digits in
            clocks.append(Clock())
            return frame(digits, &clocks[clocks.count - 1], held: held, tree: tree)
        }
        date(&frames, clocks)
        return try RawExport(frames: frames, app: app(tree))
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
    /// The times in the file of a frame.
    private struct Clock {
        /// Seconds since the device was started.
        var uptime: Double?
        /// The time of the last position fix in seconds since 1970. It is never later than the frame.
        var fix: Double?
    }

    private static func frame(
        _ digits: String, _ clock: inout Clock, held: Set<FilePath.Component>, tree: RawTree
    ) -> RawFrame {
        func path(_ name: String) -> FilePath? {
            FilePath.Component(name).flatMap { held.contains($0) ? FilePath(root: nil, components: $0) : nil }
        }
        let json = FilePath("frame_\(digits).json")
        var frame = RawFrame(name: digits, number: Int(digits), photo: path("frame_\(digits).jpg"))
        frame.depth = path("depth_\(digits).png").map { RawFrame.DepthFile(path: $0, scale: .millimetres) }
        frame.confidence = path("conf_\(digits).png")
        frame.carried = [json, infoFile]
        do {
            let object = try ExportObject(reading: json, in: tree, limit: frameLimit)
            clock.uptime = try time("time", object)
            frame.facts.intrinsics = try intrinsics(object)
            frame.facts.pose = try object.numbers("cameraPoseARFrame", count: 16).map {
                matrix throws(BundleError) in try object.pose(matrix, name: "cameraPoseARFrame")
            }
            if case .bool(true) = object["hasGPS"] {
                clock.fix = try time("gpsTime", object)
                frame.facts.location = try location(object)
            }
        } catch {
            frame.problem = error
        }
        return frame
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
    private static func date(_ frames: inout [RawFrame], _ clocks: [Clock]) {
        let offset = clocks.compactMap { clock in clock.fix.flatMap { fix in clock.uptime.map { fix - $0 } } }.max()
        // Without a fix, times count from the first frame. If its file is broken, no frame has a time.
        let fault = offset == nil ? frames.first?.problem : nil
        let start = clocks.lazy.compactMap(\.uptime).first
        for (index, clock) in clocks.enumerated() {
            // A frame without a photo is not packed, so it cannot fail.
            frames[index].problem = frames[index].photo == nil ? nil : frames[index].problem ?? fault
            guard let uptime = clock.uptime, let start else { continue }
            if let offset {
                let time = CaptureTime(milliseconds: Int(((uptime + offset) * 1000).rounded(.down)))
                frames[index].facts.clock = time.map { .time($0.description) } ?? .none
            } else {
                frames[index].facts.clock = .elapsed(uptime - start)
            }
        }
    }
}
