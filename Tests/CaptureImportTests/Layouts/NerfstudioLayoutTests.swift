import CaptureBundle
import CaptureTestSupport
import Foundation
import SystemPackage
import Testing

@testable import CaptureImport

/// nerfstudio's transforms.json.
struct NerfstudioLayoutTests {
    private static let global = "\"fl_x\": 9, \"fl_y\": 8, \"cx\": 4, \"cy\": 3, \"w\": 64, \"h\": 48"
    private static let pose = "\"transform_matrix\": [[0,0,1,4],[1,0,0,5],[0,1,0,6],[0,0,0,1]]"

    private func export(_ frames: [String], top: String = global) throws -> ReadExport {
        let folder = try TemporaryFolder()
        let tree = try RawTree.making(
            ["transforms.json": "{\(top), \"frames\": [\(frames.joined(separator: ","))]}"], in: folder)
        #expect(NerfstudioLayout.evidence(in: tree) == "transforms.json")
        return try ReadExport(NerfstudioLayout.export(tree))
    }

    private static func frame(_ path: String, _ more: String = "") -> String {
        "{\"file_path\": \"\(path)\", \"depth_file_path\": \"depths/d.png\", \(pose)\(more)}"
    }

    /// The names and the unit of NeRFCapture and instant-ngp. The photo of a frame has no ending there.
    @Test func readsTheUnitOfIntegers() throws {
        let folder = try TemporaryFolder()
        let frame = #"{"file_path": "images/0", "depth_path": "images/0.depth.png"}"#
        let other = #"{"file_path": "images/1", "depth_path": "images/1.exr"}"#
        for (number, scale) in [("6.103608758678569e-05", "0.00006103608758678569"), ("0.001", "0.001"), ("-1", nil)]
            as [(String, String?)]
        {
            let tree = try RawTree.making(
                [
                    "transforms.json": #"{"integer_depth_scale": \#(number), "frames": [\#(frame), \#(other)]}"#,
                    "images/0.png": "", "images/1.jpg": "",
                ], in: folder)
            let frames = try NerfstudioLayout.export(tree).frames
            #expect(frames.map { $0.photo?.string } == ["images/0.png", "images/1.jpg"])
            #expect(frames.map { $0.depth?.path.string } == ["images/0.depth.png", "images/1.exr"])
            #expect(frames.map { $0.depth?.scale?.description } == [scale, nil])
        }
    }

    @Test func readsPathsCamerasAndPoses() throws {
        let export = try export([
            Self.frame("./images/frame_00012.jpg"), Self.frame("images//./b.jpeg", ", \"fl_x\": 10, \"w\": 65"),
        ])
        #expect(export.app == nil)
        #expect(export.frames.map(\.name) == ["frame_00012", "b"])
        #expect(export.frames.map(\.number) == [12, nil])
        #expect(export.frames.map { $0.photo?.string } == ["images/frame_00012.jpg", "images/b.jpeg"])
        #expect(export.frames[0].depth?.path == "depths/d.png")
        #expect(export.frames[0].depth?.scale == nil, "the file does not say the unit")
        #expect(export.frames[0].carried == ["transforms.json"])
        #expect(export.frames.map(\.facts.clock) == [.none, .none])
        #expect(
            export.frames.map(\.facts.intrinsics) == [
                CameraIntrinsics(fx: 9, fy: 8, cx: 4, cy: 3, width: 64, height: 48),
                CameraIntrinsics(fx: 10, fy: 8, cx: 4, cy: 3, width: 65, height: 48),
            ])
        #expect(export.frames[0].facts.pose?.matrix == [0, 0, 1, 4, 1, 0, 0, 5, 0, 1, 0, 6, 0, 0, 0, 1])
    }

    @Test func leavesOutAPoseWhoseUnitIsUnknown() throws {
        let alone = "{\"file_path\": \"a.jpg\", \(Self.pose)}"
        #expect(try export([alone]).frames[0].facts.pose == nil)
        #expect(try export([alone]).frames[0].depth == nil)
        #expect(
            try export([Self.frame("a.jpg")], top: Self.global + ", \"applied_scale\": 0.5").frames[0].facts.pose == nil
        )
        #expect(
            try export([Self.frame("a.jpg")], top: Self.global + ", \"applied_scale\": 1.0").frames[0].facts.pose != nil
        )
    }

    @Test(arguments: [("OPENCV", true), ("PINHOLE", true), ("OPENCV_FISHEYE", false), ("EQUIRECTANGULAR", false)])
    func takesOnlyPinholeCameras(_ model: String, _ isPinhole: Bool) throws {
        let top = Self.global + ", \"camera_model\": \"\(model)\""
        #expect((try export([Self.frame("a.jpg")], top: top).frames[0].facts.intrinsics != nil) == isPinhole)
        let own = Self.frame("a.jpg", ", \"camera_model\": \"\(model)\"")
        #expect((try export([own]).frames[0].facts.intrinsics != nil) == isPinhole)
    }

    @Test func tellsNamesInTwoUnicodeFormsApart() throws {
        let names = ["caf\u{e9}.jpg", "cafe\u{301}.jpg"]
        let frames = try export([Self.frame(names[0], ", \"fl_x\": 700"), Self.frame(names[1], ", \"fl_x\": 701")])
            .frames
        #expect(frames.map { $0.facts.intrinsics?.fx } == [700, 701])
    }

    @Test func givesFramesOfSeveralCamerasDifferentNames() throws {
        let names = try export([Self.frame("left/1.jpg"), Self.frame("right/1.jpg")]).frames.map(\.name)
        #expect(names == ["left-1", "right-1"])
    }

    @Test(arguments: [
        "/etc/passwd", "../a.jpg", "images/../../a.jpg", "images/..", "", ".", "a\\u0000.jpg",
    ])
    func refusesAPhotoOutsideTheExport(_ path: String) throws {
        let error = #expect(throws: BundleError.self) { try export([Self.frame("a.jpg"), Self.frame(path)]) }
        #expect(error?.code == .rawCapture)
        #expect(error?.file?.hasSuffix("transforms.json") == true)
        #expect(error?.message.hasPrefix("frames[1]: file_path is ") == true, "\(error?.message ?? "")")
    }

    @Test func aDepthMapOutsideTheExportIsAProblemOfItsFrame() throws {
        let outside = Self.frame("b.jpg").replacing("depths/d.png", with: "../../d.png")
        let frames = try export([Self.frame("a.jpg"), outside]).frames
        #expect(frames.map { $0.problem == nil } == [true, false])
        #expect(frames[1].depth == nil)
    }

    @Test(arguments: [
        ([frame("a.jpg"), frame("./a.jpg")], "two frames have the same file_path"),
        (["7"], "frames[0] is a number, expected an object"), (["{}"], "frames[0] has no file_path"),
        ([], "has no frames"),
    ])
    func refusesAListThatIsWrong(_ frames: [String], _ words: String) throws {
        #expect(refusal { try export(frames) }?.message == words)
    }

    @Test func refusesMoreFramesThanAreAllowed() throws {
        let error = #expect(throws: BundleError.self) {
            try export([String](repeating: "0", count: 100_001))
        }
        #expect(error?.code == .rawLayout)
        #expect(error?.message == "has 100001 frames, at most 100000 are allowed")
    }
}

/// No layout takes the export of another app for its own.
struct LayoutDetectionTests {
    private static let layouts: [any RawLayout.Type] = [
        ScannerAppLayout.self, Record3DLayout.self, PolycamLayout.self, NerfstudioLayout.self, StrayScannerLayout.self,
        R3DLayout.self,
    ]

    @Test(arguments: [
        (["info.json": "", "frame_00000.json": ""], "3d-scanner-app"),
        (["metadata.json": "{\"K\": 1, \"w\": 1, \"h\": 1}", "rgb/0.jpg": "", "depth/0.exr": ""], "record3d"),
        (["keyframes/images/1.jpg": "", "keyframes/cameras/1.json": "", "mesh_info.json": ""], "polycam"),
        (["transforms.json": "{}", "images/1.jpg": ""], "nerfstudio"),
        (["odometry.csv": "", "rgb.mp4": "", "depth/000000.png": "", "confidence/000000.png": ""], "stray-scanner"),
        (["metadata": "", "rgbd/0.jpg": "", "icon": ""], "r3d"),
        (["photo.jpg": "", "metadata.json": "{}", "depth.f32": ""], nil),
        (["metadata.json": "{\"K\": 1, \"w\": 1}", "rgb/0.jpg": "", "depth/0.exr": ""], nil),
        (["info.json": "", "frame_x.json": "", "frame_.json": "", "frame_1.jpg": ""], nil),
    ])
    func oneLayoutFitsAtMost(_ files: [String: String], _ name: String?) throws {
        let folder = try TemporaryFolder()
        let tree = try RawTree.making(files, in: folder)
        let fitting = Self.layouts.filter { $0.evidence(in: tree) != nil }.map { $0.name }
        #expect(fitting == (name.map { [$0] } ?? []))
    }
}
