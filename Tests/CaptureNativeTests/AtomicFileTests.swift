import CaptureNative
import CaptureTestSupport
import SystemPackage
import Testing

struct AtomicFileTests {
    @Test(arguments: [true, false])
    func appearsOnlyWhenCommitted(allowsUnnamed: Bool) throws {
        let folder = try TemporaryFolder()
        do {
            let file = try AtomicFile(path: folder.path("a"), mode: 0o644, allowsUnnamed: allowsUnnamed)
            try file.handle.write([1, 2, 3])
        }
        #expect(try DirectoryHandle.names(in: FilePath(folder.path)).isEmpty)
        let file = try AtomicFile(path: folder.path("a"), mode: 0o644, allowsUnnamed: allowsUnnamed)
        try file.handle.write([1, 2, 3])
        try file.commit(.refuse)
        #expect(try folder.bytes("a") == [1, 2, 3])
        #expect(try DirectoryHandle.names(in: FilePath(folder.path)) == ["a"])
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
        #expect(try DirectoryHandle.names(in: FilePath(folder.path)) == ["a"])
    }
}
