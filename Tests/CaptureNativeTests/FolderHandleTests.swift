import CaptureNative
import CaptureTestSupport
import Foundation
import Synchronization
import SystemPackage
import Testing

/// A folder handle looks names up in its open folder and follows no link.
struct FolderHandleTests {
    @Test func writesIntoTheFolderThatWasOpenedWhereverItIsMovedTo() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: folder.path("a"), withIntermediateDirectories: false)
        let handle = try FolderHandle(folder.path("a"))
        let file = try AtomicFile("photo", in: handle, mode: 0o600)
        try file.handle.write([1, 2, 3])
        try FileManager.default.moveItem(atPath: folder.path("a"), toPath: folder.path("b"))
        try FileManager.default.createSymbolicLink(atPath: folder.path("a"), withDestinationPath: "/tmp")
        try file.commit(.refuse)
        #expect(try folder.bytes("b/photo") == [1, 2, 3])
    }

    @Test(arguments: ["", "/", "//"])
    func makesFoldersWhoseHoldersAreTheOnesThatAreSynced(_ end: String) throws {
        let folder = try TemporaryFolder()
        #expect(try Folders.create(FilePath(folder.path("a") + end), mode: 0o700) == [folder.path("a")])
        let made = try Folders.create(FilePath(folder.path("b/c") + end), mode: 0o700)
        let expected: [FilePath] = [folder.path("b"), folder.path("b/c")]
        #expect(made == expected)
        #expect(try Folders.create(FilePath(folder.path("b/c") + end), mode: 0o700).isEmpty)
        Folders.removeEmpty(made)
        #expect(try Folders.names(in: FilePath(folder.path)) == ["a"])
    }

    /// Each takes the files of the others for leftovers of killed trials.
    @Test func manyTrialsOfAFolderAtOnceFindNothing() throws {
        let folder = try TemporaryFolder()
        for name in ["from", "to"] { _ = try Folders.create(folder.path(name), mode: 0o700) }
        let (from, target): (FilePath, FilePath) = (folder.path("from"), folder.path("to"))
        let found = Mutex<[String]>([])
        let group = DispatchGroup()
        for _ in 0..<16 {
            group.enter()
            Foundation.Thread.detachNewThread {
                for _ in 0..<16 {
                    let result = Result { try FolderTrial.lacks(of: from, movingTo: target) }
                    if (try? result.get())?.isEmpty != true { found.withLock { $0.append("\(result)") } }
                }
                group.leave()
            }
        }
        group.wait()
        #expect(found.withLock(\.self).isEmpty)
    }

    @Test func refusesALinkInPlaceOfASubfolder() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createSymbolicLink(atPath: folder.path("source"), withDestinationPath: "/tmp")
        let handle = try FolderHandle(FilePath(folder.path))
        let error = #expect(throws: NativeError.self) { try handle.subfolder("source", mode: 0o700) }
        #expect(error.map { $0.isNoFolder || $0.isLoop } == true)
        #expect(handle.kind(of: "source") == .link)
        #expect(handle.kind(of: "nothing") == nil)
    }

    @Test func refusesALinkInPlaceOfTheFolderWhereAsked() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createSymbolicLink(atPath: folder.path("link"), withDestinationPath: folder.path)
        #expect(throws: NativeError.self) { try FolderHandle(folder.path("link"), followsLinks: false) }
        _ = try FolderHandle(folder.path("link"))
    }
}
