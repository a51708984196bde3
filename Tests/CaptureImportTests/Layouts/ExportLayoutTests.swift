import CaptureBundle
import CaptureTestSupport
import Foundation
import SystemPackage
import Testing

@testable import CaptureImport

extension RawTree {
    /// A folder with these files, of which most are empty.
    static func making(_ files: [String: String], in folder: TemporaryFolder) throws -> RawTree {
        for (name, text) in files { try folder.write(text, to: name) }
        return RawTree(root: folder.path(""), storage: try FolderStorage(listing: folder.path("")))
    }
}

/// Record3D's "EXR + RGB".
struct Record3DLayoutTests {
    private func export(_ more: String, frames: [Int] = [2, 5], k: String = "[9, 0, 0, 0, 8, 0, 4, 3, 1]") throws
        -> ReadExport
    {
        let folder = try TemporaryFolder()
        var files = ["metadata.json": "{\"K\": \(k), \"w\": 720, \"h\": 960\(more)}"]
        for frame in frames {
            files["rgb/\(frame).jpg"] = ""
            files["depth/\(frame).exr"] = ""
        }
        files["depth/11.exr"] = ""
        files["rgb/05.jpg"] = ""
        let tree = try RawTree.making(files, in: folder)
        #expect(Record3DLayout.evidence(in: tree) == "metadata.json with K, w and h, rgb, depth")
        return try ReadExport(Record3DLayout.export(tree))
    }

    @Test func ordersFramesByNumberAndTakesNoPaddedName() throws {
        let export = try export("")
        #expect(export.frames.map(\.name) == ["2", "5", "11"])
        #expect(export.frames.map { $0.photo?.string } == ["rgb/2.jpg", "rgb/5.jpg", nil])
        #expect(export.frames[1].depth?.path == "depth/5.exr")
        #expect(export.frames[1].depth?.scale == .metres)
        #expect(export.frames[1].carried == ["metadata.json"])
        #expect(export.app == "Record3D")
        #expect(export.frames[0].facts.clock == .none)
        #expect(export.frames[0].facts.pose == nil)
    }

    @Test func prefersTheCameraOfTheFrame() throws {
        let list = (0..<6).map { "[\($0 + 100), 101, 102, 103]" }.joined(separator: ",")
        let export = try export(", \"perFrameIntrinsicCoeffs\": [\(list)]")
        #expect(
            export.frames.map(\.facts.intrinsics)
                == [102, 105, 9].map { fx in
                    fx == 9
                        ? CameraIntrinsics(fx: 9, fy: 8, cx: 4, cy: 3, width: 720, height: 960)
                        : CameraIntrinsics(fx: fx, fy: 101, cx: 102, cy: 103, width: 720, height: 960)
                })
    }

    @Test func takesEqualPosesOfTheFrontCameraForNone() throws {
        let poses = [String](repeating: "[0,0,0,1,0,0,0]", count: 6).joined(separator: ",")
        #expect(try export(", \"poses\": [\(poses)]").frames.map(\.facts.pose) == [nil, nil, nil])
    }

    @Test func countsSecondsFromTheFirstFrameOfTheFolder() throws {
        let times = ", \"frameTimestamps\": [0, 0.25, 0.5, 0.75, 1, 1.75]"
        #expect(try export(times).frames.map(\.facts.clock) == [.elapsed(0), .elapsed(1.25), .none])
    }

    @Test(arguments: [
        (", \"poses\": [0,0,[0,0,0,1,0,0,0],0,0,[0,0,0,1,0,0]]", "poses[5] has 6 elements, expected 7"),
        (", \"poses\": [0,0,[0,0,0,1,0,0,0],0,0,[0,0,0,2,0,0,0]]", "poses[5] does not begin with a quaternion"),
        (", \"frameTimestamps\": [0,0,1,0,0,1e300]", "frameTimestamps[5]"),
        (", \"perFrameIntrinsicCoeffs\": [0,0,[1,1,1,1],0,0,[0,1,1,1]]", "expected values in pixels"),
    ])
    func aBrokenElementIsAProblemOfItsFrameOnly(_ more: String, _ words: String) throws {
        let frames = try export(more).frames
        #expect(frames.map { $0.problem == nil } == [true, false, true])
        let problem = try #require(frames[1].problem)
        #expect(problem.file?.hasSuffix("metadata.json") == true)
        #expect(problem.message.contains(words), "\(problem.message)")
    }

    /// The metadata of 67,000 frames has more than 16 MiB.
    @Test(.long) func takesLargeMetadata() throws {
        let space = String(repeating: " ", count: 17 << 20)
        #expect(try export("," + space + #""fps": 60"#).frames.count == 3)
    }

    @Test func namesTheLimitOfTheMetadata() throws {
        let folder = try TemporaryFolder()
        let tree = try RawTree.making(["rgb/0.jpg": "", "depth/0.exr": "", "metadata.json": ""], in: folder)
        let file = try FileHandle(forWritingTo: folder.url.appending(path: "metadata.json"))
        try file.truncate(atOffset: UInt64(FileLimits.scan) + 1)
        #expect(Record3DLayout.evidence(in: tree) == "metadata.json, rgb, depth")
        let error = #expect(throws: BundleError.self) { try Record3DLayout.export(tree) }
        #expect(error?.message == "has more than the \(FileLimits.scan) bytes that are allowed")
    }

    @Test(arguments: ["[9, 0, 4, 0, 8, 3, 0, 0, 1]", "[9, 0, 0, 0, 8, 0, 4, 3]", "{}"])
    func refusesAMatrixInAnotherOrder(_ k: String) throws {
        let error = #expect(throws: BundleError.self) { try export("", k: k) }
        #expect(error?.message.hasPrefix("K ") == true, "\(error?.message ?? "")")
    }
}

/// Polycam's raw data.
struct PolycamLayoutTests {
    private static let camera = """
        {"fx": 700.5, "fy": 701.5, "cx": 512.25, "cy": 384.75, "width": 1024, "height": 768, "blur_score": 90.5,
        "t_00": 0, "t_01": 0, "t_02": 1, "t_03": 4, "t_10": 1, "t_11": 0, "t_12": 0, "t_13": 5,
        "t_20": 0, "t_21": 1, "t_22": 0, "t_23": 6}
        """

    private func export(_ cameras: [String: String?]) throws -> ReadExport {
        let folder = try TemporaryFolder()
        var files = ["mesh_info.json": "{}"]
        for (name, camera) in cameras {
            for file in ["images/\(name).jpg", "depth/\(name).png", "confidence/\(name).png"] {
                files["keyframes/\(file)"] = ""
            }
            files["keyframes/cameras/\(name).json"] = camera
        }
        files["keyframes/depth/3000000.png"] = ""
        let tree = try RawTree.making(files, in: folder)
        #expect(PolycamLayout.evidence(in: tree) == "keyframes/images, keyframes/cameras")
        return try ReadExport(PolycamLayout.export(tree))
    }

    @Test func ordersFramesByTimeAndReadsTheirFiles() throws {
        let export = try export(["11500000": Self.camera, "9000000": nil])
        #expect(export.frames.map(\.name) == ["3000000", "9000000", "11500000"])
        #expect(
            export.frames.map { $0.photo?.string } == [
                nil, "keyframes/images/9000000.jpg", "keyframes/images/11500000.jpg",
            ])
        #expect(export.frames.map(\.facts.clock) == [.elapsed(0), .elapsed(6), .elapsed(8.5)])
        let last = export.frames[2]
        #expect(last.number == 11_500_000)
        #expect(last.depth?.path == "keyframes/depth/11500000.png")
        #expect(last.depth?.scale == .millimetres)
        #expect(last.confidence == "keyframes/confidence/11500000.png")
        #expect(last.carried == ["keyframes/cameras/11500000.json", "mesh_info.json"])
        #expect(
            last.facts.intrinsics
                == CameraIntrinsics(fx: 700.5, fy: 701.5, cx: 512.25, cy: 384.75, width: 1024, height: 768))
        #expect(last.facts.pose?.matrix == [0, 0, 1, 4, 1, 0, 0, 5, 0, 1, 0, 6, 0, 0, 0, 1])
        #expect(export.frames[1].facts.intrinsics == nil, "it has no file of the camera")
        #expect(export.frames.allSatisfy { $0.problem == nil })
    }

    @Test(arguments: [
        ("\"width\": 1024", "\"width\": 0", "width is 0.0, expected 1 to 65535 pixels"),
        ("\"t_02\": 1", "\"t_02\": 2", "t_00 to t_23 is not a rotation"),
        ("\"t_02\": 1", "\"t_02\": null", nil), ("\"fx\": 700.5", "\"fx\": \"700\"", "fx is a string"),
    ])
    func aBrokenCameraIsAProblemOfItsFrameOnly(_ found: String, _ replacement: String, _ words: String?) throws {
        let broken = Self.camera.replacing(found, with: replacement)
        let frames = try export(["9000000": broken, "9500000": Self.camera]).frames
        #expect(frames.map { $0.problem == nil } == [true, words == nil, true])
        if let words {
            #expect(frames[1].problem?.message.contains(words) == true, "\(String(describing: frames[1].problem))")
        }
        #expect(frames[1].facts.pose == nil)
    }
}
