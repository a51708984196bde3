import CLinux
import Glibc
package import SystemPackage

/// A temporary file for bytes that must not be visible yet.
package enum TemporaryFile {
    /// Opens a file in `TMPDIR` or `/tmp` and removes its name at once. Nobody else can open it, and it disappears with
    /// the process.
    package static func open() throws(NativeError) -> FileHandle {
        var name = TemporaryName.template("capbundle", in: folder)
        let descriptor = unsafe name.withUnsafeMutableBufferPointer { buffer -> Int32 in
            guard let template = buffer.baseAddress else { return -1 }
            let descriptor = unsafe mkstemp(template)
            if descriptor >= 0 { unsafe unlink(template) }
            return descriptor
        }
        guard descriptor >= 0 else { throw .system("mkstemp") }
        return FileHandle(owning: descriptor)
    }

    /// Opens a file that is on no disk, for a few bytes.
    static func inMemory() throws(NativeError) -> FileHandle {
        let descriptor = unsafe memfd_create("capbundle", capture_close_on_exec)
        guard descriptor >= 0 else { throw .system("memfd_create") }
        return FileHandle(owning: descriptor)
    }

    package static var folder: FilePath { ProcessEnvironment.path("TMPDIR") ?? "/tmp" }
}

/// A private folder in `TMPDIR` or `/tmp`, which no other user can read.
package final class TemporaryDirectory: Sendable {
    package let path: FilePath

    /// Creates the folder; uses `/dev/shm` if the usual place is not writable or full.
    package convenience init() throws(NativeError) {
        do throws(NativeError) {
            try self.init(in: TemporaryFile.folder)
        } catch  where error.isUncreatable || error.isDiskFull {
            try self.init(in: "/dev/shm")
        }
    }

    package init(in folder: FilePath) throws(NativeError) {
        var name = TemporaryName.template("capqueue", in: folder)
        let made = unsafe name.withUnsafeMutableBufferPointer { buffer -> FilePath? in
            guard let template = buffer.baseAddress, let made = unsafe mkdtemp(template) else { return nil }
            return unsafe FilePath(platformString: made)
        }
        guard let made else { throw .system("mkdtemp") }
        path = made
    }

    package func remove() {
        for name in (try? Folders.names(in: path)) ?? [] {
            unsafe path.appending(name).native { unsafe _ = unlink($0) }
        }
        unsafe path.native { unsafe _ = rmdir($0) }
    }
}

private enum TemporaryName {
    /// A C string that mkstemp(3) and mkdtemp(3) complete: they replace the six X at the end.
    static func template(_ prefix: String, in folder: FilePath) -> [CChar] {
        let path = folder.appending("\(prefix)." + String(repeating: "X", count: 6))
        return unsafe path.native { unsafe Array(UnsafeBufferPointer(start: $0, count: strlen($0) + 1)) }
    }
}
