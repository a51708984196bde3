import CaptureBundle
import CaptureDevice
import CaptureImport
import CaptureTestSupport
import Foundation
import SystemPackage
import Testing

/// An archive is packed as the folder that it holds, and a hostile one is refused (Spec/raw-captures.md section 1).
struct ArchiveSourceTests {
    private let room: ImportRoom

    init() throws { room = try ImportRoom() }

    @Test(arguments: [
        "tar -cf made.tar raw", "tar -czf made.tar.gz raw", "tar --zstd -cf made.tar.zst raw",
        "tar -cjf made.tar.bz2 raw", "tar -cJf made.tar.xz raw",
        "tar -cf made.tar -C raw .",
        "python3 -m zipfile -c made.zip raw", "cd raw && python3 -m zipfile -c ../made.zip *",
    ])
    func givesTheEntriesOfItsFolder(_ command: String) throws {
        try RawFolder.write(to: room.folder)
        let folder = try room.pack("raw")
        try room.folder.shell(command)
        let name = try #require(
            FileManager.default.contentsOfDirectory(atPath: room.folder.path).first {
                $0.hasPrefix("made.tar") || $0 == "made.zip"
            })
        let archive = try room.pack(name)
        #expect(archive.entries == folder.entries && archive.packed.id == folder.packed.id)
        #expect(archive.packed.layout == "capbundle")
        #expect(try room.packFrames(name) == ["made.bundle"])
    }

    @Test(arguments: [
        "tar -cf made.tar -P --transform 's,raw/photo.jpg,../photo.jpg,' raw",
        "tar -cf made.tar raw && tar -rf made.tar raw",
        "ln -s /etc/passwd raw/depth.npy && tar -cf made.tar raw",
        "printf 'PK\\003\\004broken' > made.tar",
        // One bit of the CRC at the end of gzip.
        "tar -cf- raw | gzip | python3 -c \"import sys; z = bytearray(sys.stdin.buffer.read()); z[-5] ^= 1; "
            + "open('made.tar', 'wb').write(z)\"",
    ])
    func refusesAHostileOrBrokenArchive(_ command: String) throws {
        try RawFolder.write(to: room.folder)
        try room.folder.shell(command)
        let error = try room.refusal("made.tar")
        #expect(error.code == .rawArchive, "\(error)")
        #expect(error.file?.hasSuffix("made.tar") == true)
    }

    @Test func namesTheFileInTheArchiveThatIsWrong() throws {
        try RawFolder.write(to: room.folder, depth: nil)
        try room.folder.write([1, 2], to: "raw/depth.npy")
        try room.folder.shell("tar -cf made.tar raw")
        let error = try room.refusal("made.tar")
        #expect(error.code == .rawDepth && error.file?.hasSuffix("made.tar/depth.npy") == true)
    }

    @Test func saysThatAnArchiveHoldsNoCapture() throws {
        try room.folder.write("x", to: "notes/a.txt")
        try room.folder.shell("tar -cf made.tar notes")
        let error = try room.refusal("made.tar")
        #expect(error.code == .rawLayout && error.cause == .unknownLayout)
    }
}
