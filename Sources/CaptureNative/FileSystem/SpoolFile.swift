import Glibc

/// A place for bytes that must not be seen yet.
package enum SpoolFile {
    /// A file that has no name any more, in `TMPDIR` or `/tmp`: nobody else can open it, and it goes with the process.
    package static func open() throws(NativeError) -> FileHandle {
        // mkstemp(3) puts letters of its own in place of the six X.
        var name = Array(FilePath.join(folder, "capbundle.XXXXXX").utf8CString)
        let descriptor = unsafe name.withUnsafeMutableBufferPointer { buffer -> Int32 in
            guard let template = buffer.baseAddress else { return -1 }
            let descriptor = unsafe mkstemp(template)
            if descriptor >= 0 { unsafe unlink(template) }
            return descriptor
        }
        guard descriptor >= 0 else { throw .system("mkstemp") }
        return FileHandle(owning: descriptor)
    }

    package static var folder: String { ProcessEnvironment.value("TMPDIR") ?? "/tmp" }
}
