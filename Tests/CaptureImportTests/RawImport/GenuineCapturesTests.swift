import CaptureBundle
import CaptureDevice
import CaptureImport
import CaptureTestSupport
import Foundation
import SystemPackage
import Testing

/// Depth maps as devices and apps left them pack to the floats that are known, if the captures lie beside the checkout.
struct GenuineCapturesTests {
    static let captures: [URL] = ((try? Places.shared("captures")?.children) ?? []).filter { folder in
        ["png", "tiff"].contains {
            FileManager.default.fileExists(atPath: folder.appending(path: "depth_original.\($0)").path())
        }
    }

    /// Each capture in a folder of our own layout, with the depth map as it was found.
    @Test(.enabled(if: !captures.isEmpty, "needs the captures of the shared folder"), arguments: captures)
    func theDepthMapAsFoundGivesTheSameFloats(_ capture: URL) throws {
        let room = try ImportRoom()
        let ending =
            FileManager.default.fileExists(atPath: capture.appending(path: "depth_original.tiff").path())
            ? "tiff" : "png"
        for (name, file) in [("photo.jpg", "photo.jpg"), ("metadata.json", "metadata.json")] {
            try room.folder.write(capture.appending(path: file).bytes, to: "raw/\(name)")
        }
        try room.folder.write(capture.appending(path: "depth_original.\(ending)").bytes, to: "raw/depth.\(ending)")
        let provenance = try String(contentsOf: capture.appending(path: "provenance.json"), encoding: .utf8)
        let made = try room.pack("raw") {
            if provenance.contains("metres x 10000") { $0.depthScale = DepthScale("0.0001") }
        }
        #expect(try made.entries["depth.f32"] == capture.appending(path: "depth.f32").bytes)
        #expect(made.source?.encoding == (ending == "tiff" ? "tiff-f32" : "png-u16"))
    }

    @Test(.enabled(if: Places.shared("layouts/3d-scanner-app") != nil, "needs the layouts of the shared folder"))
    func framesOfAnAppPackAsTheyAreWithAModelAndATime() throws {
        let room = try ImportRoom()
        let export = try #require(Places.shared("layouts/3d-scanner-app"))
        for number in [0, 3] {
            let made = try room.pack(export.path()) { $0.frames = FrameSelection("\(number)") }
            #expect(made.packed.layout == "3d-scanner-app" && made.packed.frame == "0000\(number)")
            #expect(made.codes == ["raw.layout", "raw.frames"])
            let metadata = try made.metadata()
            #expect(metadata["device_model"] as? String == "unknown (3D Scanner App 1.9.5)")
            #expect((metadata["captured_at"] as? String)?.hasPrefix("2021-11-17T") == true)
            #expect((metadata["camera_intrinsics"] as? [String: Any])?["width"] as? Int == 1920)
            #expect(((metadata["camera_pose"] as? [String: Any])?["matrix"] as? [Any])?.count == 16)
            #expect(made.entries["confidence.png"] != nil)
        }
        #expect(throws: BundleError.self) { try room.pack(export.path()) { $0.frames = FrameSelection("1") } }
    }
}
