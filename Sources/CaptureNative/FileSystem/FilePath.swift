import Glibc
package import SystemPackage

/// Paths are swift-system's `FilePath`: bytes, split at slashes and compared byte by byte, as the kernel does it. A Swift
/// String would not do: its Characters swallow a slash before a combining mark.
///
/// `FilePath` drops a slash at the end. Where `name/` must not mean `name`, look at the text first.
extension FilePath {
    /// What Linux file systems allow for one name, in bytes.
    package static let nameLimit = 255

    /// The folder part: `.` for a bare name, `/` for a name in the root.
    package var folder: FilePath {
        let folder = removingLastComponent()
        return folder.isEmpty ? "." : folder
    }

    /// The last part, where that is a name; nil for `/`, `.`, `..` and an empty path.
    package var name: Component? {
        guard let last = lastComponent, last.kind == .regular else { return nil }
        return last
    }

    /// The path with more text at the end of its last name: `device.key` and `.pub`.
    package func adding(_ text: String) -> FilePath {
        guard let last = lastComponent else { return self }
        return removingLastComponent().appending(last.adding(text))
    }

    /// The path without links, where it leads to something; otherwise the path itself.
    package var resolved: FilePath {
        unsafe withPlatformString { path in
            guard let resolved = unsafe realpath(path, nil) else { return self }
            defer { unsafe free(resolved) }
            return unsafe FilePath(platformString: resolved)
        }
    }

    /// The path itself, unless its last name is a link: then the file that it leads to, so that names derived from it are the
    /// same for all links.
    package var followed: FilePath { FileStatus.isLink(self) ? resolved : self }

    /// What a symbolic link says; nil where there is none.
    package var linkTarget: FilePath? {
        var buffer = [CChar](repeating: 0, count: 4097)
        let count = unsafe native { unsafe readlink($0, &buffer, buffer.count - 1) }
        guard count > 0 else { return nil }
        return unsafe FilePath(platformString: Array(buffer[..<count]) + [0])
    }

    /// The path from the root, as the working folder is now.
    package var absolute: FilePath {
        guard isRelative, let here = unsafe getcwd(nil, 0) else { return self }
        defer { unsafe free(here) }
        return unsafe FilePath(platformString: here).pushing(self)
    }

    /// Calls `body` with the path as C functions take it.
    func native<Value>(_ body: (UnsafePointer<CChar>) -> Value) -> Value {
        unsafe withPlatformString(body)
    }
}

extension FilePath.Component {
    /// The name with more text at its end, which must be without slash and NUL.
    package func adding(_ text: String) -> FilePath.Component { FilePath.Component(bytes + Array(text.utf8)) ?? self }

    /// nil for bytes that no name can have.
    init?(_ bytes: [UInt8]) {
        guard !bytes.contains(0) else { return nil }
        unsafe self.init(platformString: bytes.map(CChar.init(bitPattern:)) + [0])
    }

    /// The name's bytes, without the NUL that ends it for C.
    package var bytes: [UInt8] {
        unsafe native { unsafe UnsafeBufferPointer(start: $0, count: strlen($0)).map(UInt8.init(bitPattern:)) }
    }

    /// Calls `body` with the name as C functions take it.
    func native<Value>(_ body: (UnsafePointer<CChar>) -> Value) -> Value {
        unsafe withPlatformString(body)
    }
}
