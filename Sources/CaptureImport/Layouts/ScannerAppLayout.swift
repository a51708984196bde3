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
        let numbers = tree.names().compactMap(digits).sorted { (Int($0) ?? 0) < (Int($1) ?? 0) }
        try FrameCount.check(numbers.count, in: tree)
        var dating = Dating()
        for digits in numbers { dating.add(read(digits, tree)) }
        return try RawExport(
            frames: numbers.map { frame($0, tree) }, app: app(tree),
            facts: { [dating] frame throws(BundleError) in
                let read = read(frame.name ?? "", tree)
                var facts = try read.facts.get()
                facts.clock = try dating.clock(read.clock)
                return facts
            })
    }

    /// The digits in a name such as `frame_00003.json`; nil for any other name.
    private static func digits(of name: FilePath.Component) -> String? {
        let digits = name.string.rest(after: "frame_")?.rest(before: ".json")
        return digits?.isFrameNumber == true ? digits : nil
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

    private static func frame(_ digits: String, _ tree: RawTree) -> RawFrame {
        // Each file is looked up in the tree, because a set of all names would need much memory.
        func path(_ name: String) -> FilePath? { tree.has(FilePath(name)) ? FilePath(name) : nil }
        var frame = RawFrame(name: digits, number: Int(digits), photo: path("frame_\(digits).jpg"))
        frame.depth = path("depth_\(digits).png").map { RawFrame.DepthFile(path: $0, scale: .millimetres) }
        frame.confidence = path("conf_\(digits).png")
        frame.carried = [file(digits), infoFile]
        return frame
    }

    private static func file(_ digits: String) -> FilePath { FilePath("frame_\(digits).json") }

    /// Reads the file of a frame. `facts` has no time yet; it is an error if anything in the file is wrong. `clock` then has
    /// what was read before the error.
    private static func read(_ digits: String, _ tree: RawTree) -> (
        clock: Clock, facts: Result<FrameFacts, BundleError>
    ) {
        var (clock, facts) = (Clock(), FrameFacts())
        do throws(BundleError) {
            let object = try ExportObject(reading: file(digits), in: tree, limit: frameLimit)
            clock.uptime = try time("time", object)
            facts.intrinsics = try intrinsics(object)
            facts.pose = try object.numbers("cameraPoseARFrame", count: 16).map {
                matrix throws(BundleError) in try object.pose(matrix, name: "cameraPoseARFrame")
            }
            if case .bool(true) = object["hasGPS"] {
                clock.fix = try time("gpsTime", object)
                facts.location = try location(object)
            }
        } catch {
            return (clock, .failure(error))
        }
        return (clock, .success(facts))
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
    private struct Dating {
        private var offset: Double?
        /// The first uptime; without a fix, times count from it.
        private var start: Double?
        /// The facts of the first frame, or what is wrong with its file.
        private var first: Result<FrameFacts, BundleError>?

        mutating func add(_ read: (clock: Clock, facts: Result<FrameFacts, BundleError>)) {
            first = first ?? read.facts
            guard let uptime = read.clock.uptime else { return }
            start = start ?? uptime
            if let fix = read.clock.fix { offset = max(offset ?? fix - uptime, fix - uptime) }
        }

        /// - Throws: what is wrong with the file of the first frame, if no frame has a fix: times count from it then.
        func clock(_ clock: Clock) throws(BundleError) -> FrameFacts.Clock {
            if offset == nil { _ = try first?.get() }
            guard let uptime = clock.uptime, let start else { return .none }
            guard let offset else { return .elapsed(uptime - start) }
            let time = CaptureTime(milliseconds: Int(((uptime + offset) * 1000).rounded(.down)))
            return time.map { .time($0.description) } ?? .none
        }
    }
}
