import CaptureNative
import CaptureTestSupport
import SystemPackage
import Testing

struct AtomicFileTests {
    /// Without `allowsUnnamed`, the file has a hidden name until it is committed.
    @Test(arguments: [true, false])
    func appearsOnlyWhenCommittedAndReplacesOnlyWhenTold(allowsUnnamed: Bool) throws {
        let folder = try TemporaryFolder()
        func file(_ bytes: [UInt8]) throws -> AtomicFile {
            let file = try AtomicFile(
                "a", hiddenName: ".a.tmp", in: FolderHandle(FilePath(folder.path)), mode: 0o644,
                allowsUnnamed: allowsUnnamed)
            try file.handle.write(bytes)
            return file
        }
        do { _ = try file([1, 2, 3]) }
        #expect(try Folders.names(in: FilePath(folder.path)).isEmpty)
        try file([1, 2, 3]).commit(.refuse)
        #expect(try folder.bytes("a") == [1, 2, 3])
        do {
            let second = try file([4])
            let error = #expect(throws: NativeError.self) { try second.commit(.refuse) }
            #expect(error?.isExisting == true)
        }
        #expect(try folder.bytes("a") == [1, 2, 3])
        try file([5]).commit(.replace)
        #expect(try folder.bytes("a") == [5])
        #expect(try Folders.names(in: FilePath(folder.path)) == ["a"])
    }
}
