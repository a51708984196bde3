import Glibc
package import SystemPackage

/// Paths are swift-system's `FilePath`: bytes that are split at slashes and compared byte by byte, as the kernel does
/// it. A Swift String does not work here, because a slash before a combining mark is part of a larger Character.
///
/// `FilePath` drops a slash at the end. Callers that must distinguish `name/` from `name` have to look at the text
/// first.
extension FilePath {
    /// The longest file name that Linux file systems allow, in bytes.
    package static let nameLimit = 255

    /// The folder part: `.` for a bare name, `/` for a name in the root.
    package var folder: FilePath {
        let folder = removingLastComponent()
        return folder.isEmpty ? "." : folder
    }

    /// The last part of the path, if it is a name; nil for `/`, `.`, `..` and an empty path.
    package var name: Component? {
        guard let last = lastComponent, last.kind == .regular else { return nil }
        return last
    }

    /// The path with text appended to its last name: `device.key` and `.pub` make `device.key.pub`.
    package func adding(_ text: String) -> FilePath {
        guard let last = lastComponent else { return self }
        return removingLastComponent().appending(last.adding(text))
    }

    /// The path with all symbolic links resolved if it exists, otherwise the path itself.
    package var resolved: FilePath {
        unsafe withPlatformString { path in
            guard let resolved = unsafe realpath(path, nil) else { return self }
            defer { unsafe free(resolved) }
            return unsafe FilePath(platformString: resolved)
        }
    }

    /// The path, but resolved if its last name is a symbolic link. Names derived from it are the same for all links.
    package var followed: FilePath { FileStatus.isLink(self) ? resolved : self }

    /// The target of a symbolic link; nil if the path is not one.
    package var linkTarget: FilePath? {
        var buffer = [CChar](repeating: 0, count: 4097)
        let count = unsafe native { unsafe readlink($0, &buffer, buffer.count - 1) }
        guard count > 0 else { return nil }
        return unsafe FilePath(platformString: Array(buffer[..<count]) + [0])
    }

    /// The absolute path, starting from the current working folder.
    package var absolute: FilePath {
        guard isRelative, let here = unsafe getcwd(nil, 0) else { return self }
        defer { unsafe free(here) }
        return unsafe FilePath(platformString: here).pushing(self)
    }

    /// Calls `body` with the path as a C string.
    func native<Value>(_ body: (UnsafePointer<CChar>) -> Value) -> Value {
        unsafe withPlatformString(body)
    }
}

extension FilePath.Component {
    /// The name with text appended, which must contain neither a slash nor NUL.
    package func adding(_ text: String) -> FilePath.Component { FilePath.Component(bytes + Array(text.utf8)) ?? self }

    /// nil if the bytes contain NUL.
    package init?(_ bytes: [UInt8]) {
        guard !bytes.contains(0) else { return nil }
        unsafe self.init(platformString: bytes.map(CChar.init(bitPattern:)) + [0])
    }

    /// The bytes of the name, without the NUL that C adds.
    package var bytes: [UInt8] {
        unsafe native { unsafe UnsafeBufferPointer(start: $0, count: strlen($0)).map(UInt8.init(bitPattern:)) }
    }

    /// Calls `body` with the name as a C string.
    func native<Value>(_ body: (UnsafePointer<CChar>) -> Value) -> Value {
        unsafe withPlatformString(body)
    }
}
