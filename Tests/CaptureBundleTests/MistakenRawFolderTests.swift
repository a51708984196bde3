import CaptureBundle
import CaptureTestSupport
import Foundation
import Testing

/// A raw folder with something else than expected: named, with what to do.
struct MistakenRawFolderTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func failure(_ options: RawCaptureOptions = RawCaptureOptions()) -> BundleError? {
        do {
            _ = try RawCaptureReader.read(folder.path("raw"), options)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [
        ("photo.JPG", "missing; photo.JPG is a JPEG photo"), ("IMG_1.jpeg", "missing; IMG_1.jpeg is a JPEG photo"),
    ])
    func namesThePhotoThatIsThere(_ name: String, _ message: String) throws {
        try RawFolder.write(to: folder, photo: nil)
        try folder.write(RawFolder.photo, to: "raw/\(name)")
        let error = try #require(failure())
        #expect(error.message == message)
        let raw = folder.path("raw")
        #expect(error.hints == ["rename it: mv \(raw)/\(name) \(raw)/photo.jpg"])
    }

    @Test func saysHowAHEICPhotoBecomesAJPEG() throws {
        try RawFolder.write(to: folder, photo: FileKindTests.heic)
        let error = try #require(failure())
        #expect(error.message == "is a HEIC photo, expected a JPEG")
        #expect(error.hints.contains { $0.contains("Most Compatible") })
        #expect(error.hints.contains { $0.contains("--convert-photo") })
    }

    @Test(arguments: [
        (
            "lidar_depth.png", FileKindTests.png(depth: 16, colour: 0),
            "lidar_depth.png is a 16-bit greyscale PNG, 256x192", "raw/depth.png"
        ),
        ("map.npy", FileKindTests.numpy("<f2", "(3, 4)"), "map.npy is a NumPy array of type <f2", "raw/depth.npy"),
        ("DEPTH.F32", RawFolder.depth, "DEPTH.F32 has the right length", "rename it: mv "),
    ])
    func namesTheDepthMapThatIsThere(_ name: String, _ bytes: [UInt8], _ words: String, _ hint: String) throws {
        try RawFolder.write(to: folder, depth: nil)
        try folder.write(bytes, to: "raw/\(name)")
        let error = try #require(failure())
        #expect(error.message.hasPrefix("missing; \(words)"), "\(error.message)")
        #expect(error.hints.contains { $0.contains(hint) })
    }

    @Test(arguments: [
        (24, "Float16, or UInt16"), (96, "Float64"), (12, "8-bit values"), (256 * 192 * 4, "256x192 or 192x256"),
    ])
    func saysWhatALengthMayBe(_ length: Int, _ words: String) throws {
        try RawFolder.write(to: folder, depth: [UInt8](repeating: 0, count: length))
        let error = try #require(failure())
        #expect(error.message == "has \(length) bytes, expected 48 (4 x 4 x 3)")
        #expect(error.hints.contains { $0.contains(words) })
    }

    @Test func saysThatAFolderHoldsCaptures() throws {
        try RawFolder.write(to: folder, name: "raw/one")
        let error = try #require(failure())
        #expect(error.each.count == 1 && error.message.hasPrefix("holds none of these"))
        #expect(error.hints.contains { $0.contains("capbundle pack \(folder.path("raw"))/* --out-dir") })
    }
}
