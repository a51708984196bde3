import Glibc
package import SystemPackage

/// A place for bytes that must not be seen yet.
package enum SpoolFile {
    /// A file that has no name any more, in `TMPDIR` or `/tmp`: nobody else can open it, and it goes with the process.
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

    package static var folder: FilePath { ProcessEnvironment.path("TMPDIR") ?? "/tmp" }
}

/// A folder of our own below `TMPDIR` or `/tmp`, which nobody else can look into.
package final class TemporaryDirectory: Sendable {
    package let path: FilePath

    /// In `/dev/shm`, where the usual folder cannot be written.
    package convenience init() throws(NativeError) {
        do throws(NativeError) {
            try self.init(in: SpoolFile.folder)
        } catch  where error.isUncreatable || error.isDiskFull {
            try self.init(in: "/dev/shm")
        }
    }

    private init(in folder: FilePath) throws(NativeError) {
        var name = TemporaryName.template("capqueue", in: folder)
        let made = unsafe name.withUnsafeMutableBufferPointer { buffer -> FilePath? in
            guard let template = buffer.baseAddress, let made = unsafe mkdtemp(template) else { return nil }
            return unsafe FilePath(platformString: made)
        }
        guard let made else { throw .system("mkdtemp") }
        path = made
    }

    /// Removes it and the files in it.
    package func remove() {
        for name in (try? DirectoryHandle.names(in: path)) ?? [] {
            unsafe path.appending(name).native { unsafe _ = unlink($0) }
        }
        unsafe path.native { unsafe _ = rmdir($0) }
    }
}

private enum TemporaryName {
    /// A path, as C has strings, that mkstemp(3) and mkdtemp(3) complete: they want six places for letters of their own.
    static func template(_ prefix: String, in folder: FilePath) -> [CChar] {
        let path = folder.appending("\(prefix)." + String(repeating: "X", count: 6))
        return unsafe path.native { unsafe Array(UnsafeBufferPointer(start: $0, count: strlen($0) + 1)) }
    }
}
