import CaptureBundle
import CaptureDevice
import CaptureImport
import CaptureTestSupport
import Foundation
import PictureClient
import Testing

/// Each fault of a raw folder is named, and a raw folder without faults is accepted.
struct RawCaptureTests {
    private func failure(
        photo: [UInt8]? = RawFolder.photo, depth: [UInt8]? = RawFolder.depth, metadata: String? = RawFolder.metadata,
        options: RawCaptureOptions = RawCaptureOptions()
    ) throws -> BundleError? {
        let folder = try TemporaryFolder()
        try RawFolder.write(to: folder, photo: photo, depth: depth, metadata: metadata)
        do {
            _ = try folder.readRaw(options)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        arguments: [
            (nil, "missing"), ([], "is empty"),
            ([0, 1, 2, 3], "is not a JPEG photo: begins with 000102, expected ffd8ff"),
            (Array("GIF89a".utf8), "is a GIF picture, expected a JPEG"),
            (Array(RawFolder.photo.prefix(40)), "is a broken JPEG"), ([0xff, 0xd8, 0xff], "is a broken JPEG"),
            ([0xff, 0xd8, 0xff, 0xd9], "it has no scan"),
        ] as [([UInt8]?, String)])
    func refusesAPhotoThatIsNone(_ photo: [UInt8]?, _ words: String) throws {
        let error = try #require(try failure(photo: photo))
        #expect(error.code == .rawCapture)
        #expect(error.file?.hasSuffix("/raw/photo.jpg") == true)
        #expect(error.message.contains(words), "\(error.message)")
    }

    @Test(arguments: [
        ("+01:00", "", "which has no zone"), ("\"captured_at\"", "\"taken_at\"", "captured_at is missing"),
        ("Test rig", "   ", "is blank"), ("\"Test rig\"", "7", "device_model is a number"),
        ("12.345678", "91", "latitude is 91, expected -90 to 90"), ("-45.678901", "\"x\"", "longitude is a string"),
        ("\"altitude\": 3.5", "\"altitude\": 1e400", "altitude is 1e400"),
        ("\"altitude\": 3.5", "\"altitude\": {}", "altitude is an object"),
        ("\"width\": 4", "\"width\": 4.0", "depth_map_dimensions"),
        ("\"width\": 4", "\"width\": 0", "each side must be"),
        ("\"device_model\"", "\"captured_at\"", "appears twice"), ("{\n", "{,\n", "line 1, column 2"),
        ("\"latitude\": 12.345678, ", "", "latitude is missing"),
    ])
    func refusesMetadataThatIsWrong(_ found: String, _ replacement: String, _ words: String) throws {
        let error = try #require(try failure(metadata: RawFolder.metadata.replacing(found, with: replacement)))
        #expect(error.code == .rawCapture)
        #expect(error.message.contains(words), "\(error.message)")
    }

    @Test func wantsToBeToldThatThereIsNoDepthMap() throws {
        let error = try #require(try failure(depth: nil))
        #expect(error.cause == .noDepth)
        #expect(try failure(depth: nil, options: RawCaptureOptions(withoutDepth: true)) == nil)
    }

    @Test func takesTheSizeFromTheUserWhereTheMetadataHasNone() throws {
        let bare = RawFolder.metadata.replacing("\"depth_map_dimensions\": {\"width\": 4, \"height\": 3},", with: "")
        #expect(try failure(metadata: bare)?.cause == .noDepthSize)
        let size = try #require(DepthSize(width: 4, height: 3))
        #expect(try failure(metadata: bare, options: RawCaptureOptions(depthSize: size)) == nil)
        let other = try #require(DepthSize(width: 3, height: 4))
        let error = try failure(options: RawCaptureOptions(depthSize: other))
        #expect(error?.message == "depth_map_dimensions is 4x3, but --depth-size says 3x4")
    }

    @Test func warnsOfWhatServersRefuse() throws {
        let folder = try TemporaryFolder()
        let metadata = RawFolder.metadata.replacing(
            "\"width\": 4, \"height\": 3", with: "\"width\": 1001, \"height\": 1")
        let depth = RawFolder.floats([-1, .infinity, -.infinity, -0.0, -.nan] + [Float](repeating: 1, count: 996))
        try RawFolder.write(
            to: folder, photo: RawFolder.photo + [UInt8](repeating: 0, count: 10 << 20), depth: depth,
            metadata: metadata)
        try folder.write("x", to: "raw/notes.txt")
        let remarks = try folder.readRaw().remarks
        #expect(remarks.map(\.weight) == [.note, .warning, .warning, .warning, .note])
        #expect(remarks.map(\.code) == ["raw.ignored", "upload.size", "upload.size", "raw.samples", "photo.fields"])
        #expect(remarks[0].message == "ignored: notes.txt")
        #expect(remarks[1].message.contains("servers refuse more than 10485760"))
        #expect(remarks[2].message.contains("is 1001x1"))
        #expect(remarks[3].message.hasPrefix("3 samples"))
    }
}

extension TemporaryFolder {
    /// Reads the raw folder of this folder.
    func readRaw(_ options: RawCaptureOptions = RawCaptureOptions()) throws(BundleError) -> RawCapture {
        let source = try RawSource.open(path("raw"), options: options, decoder: PictureDecoder())
        return try FrameReader.read(source.single(), of: source, options: options, decoder: PictureDecoder())
    }
}
