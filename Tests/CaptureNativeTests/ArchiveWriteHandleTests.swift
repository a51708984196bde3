import CaptureNative
import CaptureTestSupport
import Glibc
import Testing

struct ArchiveWriteHandleTests {
    private static let content = [UInt8](repeating: 7, count: 700)

    private static func write(to sink: FileHandle) throws {
        let archive = try ArchiveWriteHandle(sink: sink)
        try archive.beginEntry(path: "photo.jpg", size: content.count)
        try archive.write(content.span)
        try archive.finish()
    }

    @Test func writesNoMoreThanTwoBlocksOfEnd() throws {
        let folder = try TemporaryFolder()
        try Self.write(to: FileHandle.open(folder.path("a"), O_CREAT | O_WRONLY, mode: 0o600))
        let bytes = try folder.bytes("a")
        #expect(bytes.count == 512 + 1024 + 1024)
        #expect(bytes.suffix(1024).allSatisfy { $0 == 0 })
    }

    @Test func refusesToFinishAnEntryThatIsShort() throws {
        let folder = try TemporaryFolder()
        let archive = try ArchiveWriteHandle(sink: FileHandle.open(folder.path("a"), O_CREAT | O_WRONLY, mode: 0o600))
        try archive.beginEntry(path: "photo.jpg", size: 10)
        try archive.write([1, 2, 3].span)
        #expect(throws: NativeError.self) { try archive.finish() }
        #expect(throws: NativeError.self) { try archive.beginEntry(path: "next", size: 1) }
        #expect(throws: NativeError.self) { try archive.write([UInt8](repeating: 0, count: 8).span) }
    }

    @Test func tellsOfAFullDiskAsTheSystemDoes() throws {
        let sink = try FileHandle.open("/dev/full", O_WRONLY)
        let error = #expect(throws: NativeError.self) { try Self.write(to: sink) }
        #expect(error?.isErrno(ENOSPC) == true)
    }
}

struct AtomicFileTests {
    @Test(arguments: [true, false])
    func appearsOnlyWhenCommitted(allowsUnnamed: Bool) throws {
        let folder = try TemporaryFolder()
        do {
            let file = try AtomicFile(path: folder.path("a"), mode: 0o644, allowsUnnamed: allowsUnnamed)
            try file.handle.write([1, 2, 3])
        }
        #expect(try DirectoryHandle.names(in: folder.path).isEmpty)
        let file = try AtomicFile(path: folder.path("a"), mode: 0o644, allowsUnnamed: allowsUnnamed)
        try file.handle.write([1, 2, 3])
        try file.commit(.refuse)
        #expect(try folder.bytes("a") == [1, 2, 3])
        #expect(try DirectoryHandle.names(in: folder.path) == ["a"])
    }

    @Test(arguments: [true, false])
    func keepsWhatIsThereUnlessToldToReplace(allowsUnnamed: Bool) throws {
        let folder = try TemporaryFolder()
        try folder.write([9], to: "a")
        do {
            let file = try AtomicFile(path: folder.path("a"), mode: 0o644, allowsUnnamed: allowsUnnamed)
            try file.handle.write([1])
            let error = #expect(throws: NativeError.self) { try file.commit(.refuse) }
            #expect(error?.isExisting == true)
        }
        #expect(try folder.bytes("a") == [9])
        let file = try AtomicFile(path: folder.path("a"), mode: 0o644, allowsUnnamed: allowsUnnamed)
        try file.handle.write([1])
        try file.commit(.replace)
        #expect(try folder.bytes("a") == [1])
        #expect(try DirectoryHandle.names(in: folder.path) == ["a"])
    }
}
