import CaptureNative
import CaptureTestSupport
import QueueFiles
import QueueModel
import SystemPackage
import Testing

@testable import CaptureQueue

/// What encrypts the disk of a folder (Spec/queue.md section 16), by a copy of what the kernel lists.
struct StorageEncryptionTests {
    private let room: TemporaryFolder
    private let device: String

    init() throws {
        room = try TemporaryFolder()
        let (major, minor) = try FileStatus.of(FilePath(room.path)).deviceNumbers
        device = "\(major):\(minor)"
    }

    private func put(_ path: String, _ text: String = "") throws { try room.write(text, to: "block/\(path)") }

    private var found: StorageEncryption { StorageEncryption(of: FilePath(room.path), blocks: room.path("block")) }

    @Test func isNotKnownWithoutADevice() throws {
        #expect(found == .unknown)
        try put("\(device)/size")
        #expect(found == .unknown)
    }

    @Test(arguments: [("CRYPT-LUKS2-0a-name\n", StorageEncryption.dmCrypt), ("LVM-0a\n", .unknown), ("", .unknown)])
    func readsTheKindOfAMapping(uuid: String, expected: StorageEncryption) throws {
        try put("\(device)/dm/uuid", uuid)
        #expect(found == expected)
    }

    /// A logical volume on an encrypted partition, as installers make it.
    @Test func looksBelowOtherMappings() throws {
        try put("\(device)/dm/uuid", "LVM-0a\n")
        try put("\(device)/slaves/dm-0/slaves/dm-1/dm/uuid", "CRYPT-PLAIN-x")
        #expect(found == .dmCrypt)
    }

    @Test func needsEachDiskToBeEncrypted() throws {
        try put("\(device)/slaves/dm-0/dm/uuid", "CRYPT-LUKS2-0a")
        try put("\(device)/slaves/sda/size", "1")
        #expect(found == .unknown)
    }

    @Test func judgesAPartitionByItsDisk() throws {
        try put("md0/slaves/dm-0/dm/uuid", "CRYPT-LUKS1-0a")
        try put("md0/md0p1/partition", "1")
        try room.shell("ln -s md0/md0p1 block/\(device)")
        #expect(found == .dmCrypt)
    }

    @Test func endsInACircle() throws {
        try put("\(device)/size")
        try room.shell("cd block/\(device) && mkdir slaves && ln -s .. slaves/itself")
        #expect(found == .unknown)
    }
}
