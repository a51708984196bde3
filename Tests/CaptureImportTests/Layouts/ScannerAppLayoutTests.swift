import CaptureBundle
import CaptureTestSupport
import Foundation
import SystemPackage
import Testing

@testable import CaptureImport

/// 3D Scanner App: which frames there are, and what their files say.
struct ScannerAppLayoutTests {
    private static let pose = "[0, 0, 1, 4, 1, 0, 0, 5, 0, 1, 0, 6, 0, 0, 0, 0.99999988079071045]"
    private static let camera = "[1447.5, 0, 966.25, 0, 1448.5, 691.75, 0, 0, 1]"

    private static func json(time: Double, _ more: String = "") -> String {
        "{\"time\": \(time), \"intrinsics\": \(camera), \"cameraPoseARFrame\": \(pose)\(more)}"
    }

    private static func gps(_ time: Double, _ latitude: String = "12.3456780", horizontal: String = "4.5") -> String {
        """
        , "hasGPS": true, "gpsTime": \(time), "latitude": \(latitude), "longitude": -45.5, "altitude": 3.25,
        "horizontalAccuracy": \(horizontal), "verticalAccuracy": -1
        """
    }

    private func export(
        _ frames: [(name: String, json: String)], photos: [String] = [],
        info: String = #"{"appVersionString": "1.9.5"}"#
    ) throws -> ReadExport {
        let folder = try TemporaryFolder()
        try folder.write(info, to: "info.json")
        for frame in frames {
            try folder.write(frame.json, to: "frame_\(frame.name).json")
            try folder.write("", to: "depth_\(frame.name).png")
            try folder.write("", to: "conf_\(frame.name).png")
        }
        for photo in photos { try folder.write("", to: "frame_\(photo).jpg") }
        let tree = RawTree(root: folder.path(""), storage: try FolderStorage(listing: folder.path("")))
        #expect(ScannerAppLayout.evidence(in: tree) == "info.json, frame_\(frames[0].name).json")
        return try ReadExport(ScannerAppLayout.export(tree))
    }

    @Test func listsAllFramesInTheAppsOrderAndTheirFiles() throws {
        let frames = ["00000", "00003", "100000", "99999"].map { ($0, Self.json(time: 5)) }
        let export = try export(frames, photos: ["00003"])
        #expect(export.app == "3D Scanner App 1.9.5")
        #expect(export.frames.map(\.name) == ["00000", "00003", "99999", "100000"])
        #expect(export.frames.map(\.number) == [0, 3, 99999, 100_000])
        #expect(export.frames.map { $0.photo?.string } == [nil, "frame_00003.jpg", nil, nil])
        #expect(export.frames[1].depth?.path == "depth_00003.png")
        #expect(export.frames[1].depth?.scale == .millimetres)
        #expect(export.frames[1].confidence == "conf_00003.png")
        #expect(export.frames[1].carried == ["frame_00003.json", "info.json"])
    }

    @Test func countsSecondsFromTheFirstFrameWithoutGPS() throws {
        let export = try export([("0", Self.json(time: 402_896.5)), ("1", Self.json(time: 402_897.75))])
        #expect(export.frames.map(\.facts.clock) == [.elapsed(0), .elapsed(1.25)])
    }

    @Test func takesTheLatestFixForTheClockOfTheSession() throws {
        // The second fix is 0.75 s older than the frame, so the first tells the time better.
        let export = try export([
            ("0", Self.json(time: 1000, Self.gps(1_700_000_000.0))),
            ("1", Self.json(time: 1002, Self.gps(1_700_000_001.25))),
            ("2", Self.json(time: 1003.5)),
        ])
        #expect(
            export.frames.map(\.facts.clock) == [
                .time("2023-11-14T22:13:20.000Z"), .time("2023-11-14T22:13:22.000Z"), .time("2023-11-14T22:13:23.500Z"),
            ])
        let location = try #require(export.frames[0].facts.location)
        #expect(location["latitude"]?.numberText == "12.3456780")
        #expect(location["accuracy"]?.numberText == "4.5")
        #expect(location["altitude"] == nil, "its accuracy says that it is unknown")
        #expect(export.frames[2].facts.location == nil)
    }

    @Test func leavesOutAPositionThatTheSystemDidNotKnow() throws {
        let export = try export([("0", Self.json(time: 1000, Self.gps(1_700_000_000, horizontal: "-1")))])
        #expect(export.frames[0].facts.location == nil)
        #expect(export.frames[0].problem == nil)
    }

    @Test(arguments: [
        ("{", "not usable JSON at line 1, column 2"), ("[]", "is an array, expected an object"),
        (#"{"time": "x"}"#, "time is a string, expected a finite number"),
        (#"{"time": 1e400}"#, "time is 1e400, expected a finite number"), (#"{"time": -1}"#, "expected seconds"),
        (#"{"intrinsics": [1, 2]}"#, "intrinsics has 2 elements, expected 9 finite numbers"),
        (#"{"intrinsics": [1447, 0, 0, 0, 1447, 0, 966, 691, 1]}"#, "not a row-major matrix"),
        (#"{"intrinsics": [-1447, 0, 966, 0, 1447, 691, 0, 0, 1]}"#, "expected values in pixels"),
        (#"{"cameraPoseARFrame": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, -1, 0, 0, 0, 0, 1]}"#, "not a rotation"),
        (#"{"cameraPoseARFrame": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 7, 8, 9, 1]}"#, "not a rotation"),
        (#"{"hasGPS": true, "latitude": 91, "longitude": 0}"#, "the position: latitude is 91"),
    ])
    func aBrokenFileIsAProblemOfItsFrameOnly(_ json: String, _ words: String) throws {
        let files = [("0", Self.json(time: 5)), ("1", json), ("2", Self.json(time: 7))]
        #expect(try export(files).frames.allSatisfy { $0.problem == nil }, "without photos nothing is packed")
        let export = try export(files, photos: ["0", "1", "2"])
        #expect(export.frames.map { $0.problem == nil } == [true, false, true])
        let problem = try #require(export.frames[1].problem)
        #expect(problem.code == .rawCapture)
        #expect(problem.file?.hasSuffix("/frame_1.json") == true)
        #expect(problem.message.contains(words), "\(problem.message)")
        #expect(export.frames[2].facts.clock == .elapsed(2))
    }

    @Test func aBrokenFirstFrameLeavesTheOthersWithoutATime() throws {
        let files = [("0", "{"), ("1", Self.json(time: 6)), ("2", Self.json(time: 7, Self.gps(1_700_000_000)))]
        let withoutFix = try export(Array(files[..<2]), photos: ["1"])
        #expect(withoutFix.frames[1].problem?.file?.hasSuffix("/frame_0.json") == true)
        // With a fix, the times do not count from the first frame.
        let withFix = try export(files, photos: ["1"])
        #expect(withFix.frames[1].problem == nil)
        #expect(withFix.frames[1].facts.clock == .time("2023-11-14T22:13:19.000Z"))
    }

    @Test(arguments: [(#"{"appVersionString": "1\n2"}"#, "3D Scanner App"), ("{}", "3D Scanner App")])
    func doesNotTakeAnythingForAVersion(_ info: String, _ app: String) throws {
        #expect(try export([("0", Self.json(time: 5))], info: info).app == app)
    }
}
