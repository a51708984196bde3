import CaptureTestSupport
import Foundation
import SystemPackage
import Testing

@testable import CaptureBundle

/// Changed files of an app give frames or an error, and never a trap.
struct HostileExportTests {
    /// A layout, the file that is changed, and the other names in the export.
    struct Sample: Sendable, CustomTestStringConvertible {
        let layout: any RawLayout.Type
        let file: String
        let text: String
        let others: [String: String]

        var testDescription: String { layout.name }
    }

    private static let samples = [
        Sample(
            layout: ScannerAppLayout.self, file: "frame_00001.json",
            text: """
                {"time": 402896.5, "intrinsics": [9, 0, 4, 0, 8, 3, 0, 0, 1], "hasGPS": true, "gpsTime": 1700000000.5,
                "cameraPoseARFrame": [0, 0, 1, 4, 1, 0, 0, 5, 0, 1, 0, 6, 0, 0, 0, 1], "latitude": 1, "longitude": 2,
                "altitude": 3, "horizontalAccuracy": 4, "verticalAccuracy": 5}
                """, others: ["info.json": "{}", "depth_00001.png": "", "frame_00001.jpg": ""]),
        Sample(
            layout: Record3DLayout.self, file: "metadata.json",
            text: """
                {"K": [9, 0, 0, 0, 8, 0, 4, 3, 1], "w": 64, "h": 48, "poses": [[0, 0, 0, 1, 4, 5, 6],
                [0.5, 0.5, 0.5, 0.5, 1, 2, 3]], "frameTimestamps": [0, 0.25], "perFrameIntrinsicCoeffs": [[9, 8, 4, 3]]}
                """, others: ["rgb/0.jpg": "", "depth/0.exr": "", "rgb/1.jpg": "", "depth/1.exr": ""]),
        Sample(
            layout: PolycamLayout.self, file: "keyframes/cameras/9000000.json",
            text: """
                {"fx": 9, "fy": 8, "cx": 4, "cy": 3, "width": 64, "height": 48, "t_00": 0, "t_01": 0, "t_02": 1,
                "t_03": 4, "t_10": 1, "t_11": 0, "t_12": 0, "t_13": 5, "t_20": 0, "t_21": 1, "t_22": 0, "t_23": 6}
                """, others: ["keyframes/images/9000000.jpg": "", "keyframes/depth/9000000.png": ""]),
        Sample(
            layout: NerfstudioLayout.self, file: "transforms.json",
            text: """
                {"fl_x": 9, "fl_y": 8, "cx": 4, "cy": 3, "w": 64, "h": 48, "applied_scale": 1, "frames": [
                {"file_path": "./images/frame_1.jpg", "depth_file_path": "depths/1.png",
                "transform_matrix": [[0,0,1,4],[1,0,0,5],[0,1,0,6],[0,0,0,1]]}, {"file_path": "images/2.jpg"}]}
                """, others: [:]),
    ]

    /// What replaces a number or a byte: values at the edges of what a Double and an Int can hold.
    private static let edges = [
        "1e308", "-1e308", "1e-320", "9223372036854775807", "9223372036854775808", "-9223372036854775808", "null", "{}",
        "[]", "\"\"", "true", "99999999999999999999", "0.1e400", "-0",
    ]

    @Test(arguments: samples)
    func noChangedFileEndsTheProgram(_ sample: Sample) throws {
        let folder = try TemporaryFolder()
        let tree = try RawTree.making(sample.others.merging([sample.file: sample.text]) { $1 }, in: folder)
        let untouched = try sample.layout.export(tree)
        #expect(untouched.frames.allSatisfy { $0.problem == nil && $0.facts.intrinsics != nil })
        var generator = SeededGenerator(seed: 13)
        let original = Array(sample.text.utf8)
        let turns = isLongRun ? 150 : 60
        var refused = 0
        for turn in 0..<turns {
            var bytes = original
            let place = Int.random(in: 0..<bytes.count, using: &generator)
            if turn.isMultiple(of: 2), let number = Self.number(at: place, in: bytes) {
                bytes.replaceSubrange(number, with: Self.edges[turn / 2 % Self.edges.count].utf8)
            } else {
                bytes[place] = UInt8.random(in: 0...255, using: &generator)
            }
            try folder.write(bytes, to: sample.file)
            _ = sample.layout.evidence(in: tree)
            do {
                let export = try sample.layout.export(tree)
                refused += export.frames.contains { $0.problem != nil } ? 1 : 0
            } catch {
                #expect([.rawCapture, .rawLayout].contains(error.code), "\(error)")
                #expect(error.file != nil)
                refused += 1
            }
        }
        #expect(refused > turns / 5, "\(refused) of \(turns) were refused")
    }

    /// The number that includes the byte at a place or follows it.
    private static func number(at place: Int, in bytes: [UInt8]) -> Range<Int>? {
        let isDigit = { (byte: UInt8) in "0123456789.-".utf8.contains(byte) }
        guard let start = bytes[place...].firstIndex(where: isDigit) else { return nil }
        let first = bytes[..<start].lastIndex { !isDigit($0) }.map { $0 + 1 } ?? 0
        return first..<(bytes[start...].firstIndex { !isDigit($0) } ?? bytes.count)
    }
}
