import CaptureBundle
import CaptureDevice
import CaptureNative
import CaptureTestSupport
import Foundation
import Testing

/// The parts of a RealityCam upload pack as they are.
struct RealityCamLayoutTests {
    private let room: ImportRoom
    private let floats = RawFolder.floats([0.5, 1, .nan, 0])

    init() throws { room = try ImportRoom() }

    private func write(hash: String, photo: String = "capture.jpg", depth: [UInt8]? = nil) throws {
        let metadata = """
            {"captured_at": "2026-03-14T15:09:26.535Z", "device_model": "iPhone 15 Pro", "photo_hash": "\(hash)",
             "depth_map_dimensions": {"width": 2, "height": 2}}
            """
        try room.folder.write(metadata, to: "upload/metadata.json")
        try room.folder.write(RawFolder.photo, to: "upload/\(photo)")
        try room.folder.write(depth ?? PictureFiles.zlib(floats), to: "upload/depth.gz")
    }

    private var digest: Digest { get throws { try Digest.of(RawFolder.photo) } }

    @Test(arguments: [true, false])
    func packsThePartsWhoseHashIsRight(_ isHex: Bool) throws {
        try write(hash: isHex ? digest.description : Base64.encode(digest.bytes))
        let made = try room.pack("upload")
        #expect(made.entries["depth.f32"] == floats)
        #expect(made.source?.encoding == "float32-le+zlib" && made.packed.layout == "realitycam")
        #expect(made.codes == ["raw.layout"])
        let origin = try made.metadata()["capture_source"] as? [String: String]
        #expect(origin == ["app": "RealityCam", "layout": "realitycam"])
    }

    @Test func refusesAnotherPhoto() throws {
        try write(hash: String(repeating: "0", count: 64), photo: "photo.jpg")
        let error = try room.refusal("upload")
        #expect(error.code == .rawCapture && error.message.contains("photo_hash in metadata.json says 0000"))
        #expect(error.file?.hasSuffix("upload/photo.jpg") == true)
        try write(hash: "no hash", photo: "photo.jpg")
        #expect(try room.refusal("upload").message == "photo_hash is not a SHA-256 in hex or base64")
    }

    @Test func refusesADepthMapOfAnotherLength() throws {
        try write(hash: digest.description, depth: PictureFiles.zlib(floats + [0, 0, 0, 0]))
        #expect(try room.refusal("upload").code == .rawDepth)
    }
}
