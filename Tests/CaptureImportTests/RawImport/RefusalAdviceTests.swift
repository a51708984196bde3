import CaptureBundle
import CaptureDevice
import CaptureImport
import CaptureTestSupport
import CommandSupport
import Foundation
import Testing

/// A refusal says what the file is, and what leads on.
struct RefusalAdviceTests {
    private let room: ImportRoom

    init() throws {
        room = try ImportRoom()
        try RawFolder.write(to: room.folder, depth: nil, metadata: ImportRoom.metadata)
    }

    private func words(_ error: BundleError) -> String { error.advice.joined(separator: "; ") }

    /// A depth file of another kind than its name says, words of the message, and of the hint.
    private static let others: [(String, [UInt8], String, String)] = [
        ("depth.exr", PictureFiles.tiff(width: 1, height: 1, [1]), "looks like a TIFF picture", "depth.tiff"),
        ("depth.tif", PictureFiles.png(width: 1, height: 1, [1]), "looks like a 16-bit greyscale PNG", "depth.png"),
        ("depth.npy", Array("Pf\n1 1\n-1\n".utf8), "looks like a PFM picture", "depth.pfm"),
        (
            "depth.png", [UInt8](repeating: 0, count: 12) + PictureFiles.png(width: 1, height: 1, [1]),
            "looks like compressedDepth of ROS, with 12 bytes before its PNG", "tail -c +13"
        ),
        ("depth.mat", Array("MATLAB 5.0 MAT-file".utf8), "has an unknown ending, expected .f32, .bin, .raw", ""),
        ("depth.csv", Array("1,2".utf8), "has an unknown ending, expected .f32", ""),
        ("depth.safetensors", [1], "has an unknown ending, expected .f32", ""),
    ]

    @Test(arguments: others.indices)
    func namesWhatADepthFileIs(_ index: Int) throws {
        let (name, file, message, hint) = Self.others[index]
        try room.folder.write(file, to: "raw/\(name)")
        let error = try room.refusal("raw")
        #expect(error.code == .rawDepth && error.each.count == 1)
        #expect(error.message.hasPrefix(message) && (hint.isEmpty || words(error).contains(hint)), "\(error)")
    }

    /// A RAW that is not a folder, its first bytes, what it is called, and words of the hint.
    private static let recordings: [(String, [UInt8], String, String)] = [
        ("a.bag", Array("#ROSBAG V2.0\n".utf8), "is a ROS bag", "Samples/rosbag"),
        ("a.mcap", [0x89] + Array("MCAP0\r\n".utf8), "is a ROS bag (MCAP)", "Samples/rosbag"),
        ("a.db3", Array("SQLite format 3\0".utf8), "is a SQLite database, such as a ROS bag", "Samples/rosbag"),
        ("a.mkv", [0x1a, 0x45, 0xdf, 0xa3], "is a Matroska recording", "ffmpeg"),
        ("a.mat", Array("MATLAB 5.0 MAT-file".utf8), "is a MATLAB file", "NumPy"),
        ("a.h5", [0x89] + Array("HDF\r\n".utf8), "is an HDF5 file, such as one of MATLAB 7.3", "NumPy"),
        ("a.7z", Array("7z".utf8) + [0xbc, 0xaf, 0x27, 0x1c], "is a 7z archive", "7z x"),
        ("a.lz4", [0x04, 0x22, 0x4d, 0x18], "is an lz4-compressed file", "lz4 -d"),
        ("a.svo", [0xff], "is not a folder", "ZED SDK"),
    ]

    @Test(arguments: recordings.indices)
    func namesWhatARecordingIs(_ index: Int) throws {
        let (name, file, message, hint) = Self.recordings[index]
        try room.folder.write(file, to: name)
        let error = try room.refusal(name)
        #expect(error.code == .inputUnreadable && error.message == "\(message), expected a raw folder")
        #expect(words(error).contains(hint), "\(words(error))")
    }

    /// What it is called has the word PNG in it, but it cannot be converted like one.
    @Test func givesNoAdviceForAPhotoThatOnlyHoldsAPNG() throws {
        try room.folder.write(
            [UInt8](repeating: 0, count: 12) + PictureFiles.png(width: 1, height: 1, [1]), to: "raw/photo.jpg")
        let fault = try #require(try room.refusal("raw").each.first)
        #expect(fault.message == "is compressedDepth of ROS, with 12 bytes before its PNG, expected a JPEG")
        #expect(fault.advice == [], "\(words(fault))")
    }

    @Test func saysHowToUnpackWhatIsNoArchive() throws {
        try room.folder.shell("gzip -c raw/photo.jpg > photo.jpg.gz")
        let error = try room.refusal("photo.jpg.gz")
        #expect(error.code == .rawArchive && words(error).hasPrefix("unpack it first: gzip -dc "))
        try room.folder.write(PictureFiles.npy("<f4", RawFolder.depth), to: "raw/depth.npy")
        try room.folder.shell("gzip raw/depth.npy")
        #expect(try room.refusal("raw").each.contains { words($0).hasPrefix("unpack it first: gzip -d ") })
        try room.folder.write(Array("BZh91AY&SY".utf8), to: "raw/depth.npy.gz")
        #expect(try room.refusal("raw").each.contains { words($0).hasPrefix("unpack it first: bzip2 -d ") })
    }

    /// The old form of tar, and one with a volume label, have no mark in their first header.
    @Test(arguments: ["--format=v7", "-V label"]) func takesATarWithoutAMark(_ option: String) throws {
        try RawFolder.write(to: room.folder)
        try room.folder.shell("tar \(option) -cf made.tar raw")
        #expect(try room.pack("made.tar").packed.id == room.pack("raw").packed.id)
    }

    @Test func namesThePlaceholderOfACloudDrive() throws {
        try room.folder.shell("mv raw/photo.jpg raw/.photo.jpg.icloud")
        let error = try room.refusal("raw")
        #expect(error.each.contains { $0.message == "missing; .photo.jpg.icloud is a placeholder of a cloud drive" })
    }

    /// Programs that turn a portrait or make it smaller copy its index of pictures, and drop the pictures.
    @Test(arguments: ["jpegtran -copy all", "jpegoptim -f --strip-none --stdout", "exiftran -9 -o /dev/stdout"])
    func saysThatAProgramDroppedTheDepthMap(_ program: String) throws {
        try room.folder.write(PortraitDepthTests.portrait, to: "portrait.jpg")
        try room.folder.shell("\(program) portrait.jpg > dropped.jpg 2>/dev/null")
        let error = try room.refusal("dropped.jpg")
        #expect(error.code == .rawDepth && words(error).contains("the file that the phone wrote"))
        let reason = "such as a depth map: another program rewrote the photo"
        #expect(error.message == "lists 1 more picture than it has, \(reason)", "\(error)")
    }

    /// The list may be in XMP alone; and a picture that is still in the file is not missing, whatever it is.
    @Test func countsThePicturesThatAreMissing() throws {
        let items = ["Primary", "GainMap", "Depth"].map { "<a:Item Item:Semantic=\"\($0)\"/>" }.joined()
        try room.folder.write(JPEGPieces.photo(with: JPEGPieces.xmp(Array(items.utf8))), to: "listed.jpg")
        #expect(try room.refusal("listed.jpg").message.hasPrefix("lists 2 more pictures than it has"))
        try room.folder.write(JPEGPieces.photo(andSecond: RawFolder.photo), to: "other.jpg")
        #expect(try room.refusal("other.jpg").message.hasPrefix("is a photo without a depth map of a kind"))
    }

    @Test func namesTheOptionForTheTime() throws {
        try room.folder.shell("rm raw/metadata.json")
        try room.folder.write(PictureFiles.npy("<f4", RawFolder.depth), to: "raw/depth.npy")
        #expect(try room.refusal("raw").advice.contains { $0.hasPrefix("give it: --captured-at TIME") })
    }

    @Test func saysThatNothingWasMeasured() throws {
        try room.folder.write(PictureFiles.npy("<f4", [UInt8](repeating: 0, count: 48)), to: "raw/depth.npy")
        let remarks = try room.pack("raw").packed.remarks
        #expect(remarks.map(\.message) == ["it has no measured sample"])
    }
}
