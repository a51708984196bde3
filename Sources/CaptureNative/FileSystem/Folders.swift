package import Glibc
package import SystemPackage

/// Functions that create and list folders.
package enum Folders {
    /// Creates the folder and its missing parents, all with the permissions `mode`.
    ///
    /// - Returns: The created folders, the outermost first.
    /// - Throws: `NativeError`; the folders that this call had created are removed again.
    @discardableResult
    package static func create(_ path: FilePath, mode: mode_t) throws(NativeError) -> [FilePath] {
        var made: [FilePath] = []
        do {
            try create(path, mode: mode, &made)
        } catch {
            removeEmpty(made)
            throw error
        }
        return made
    }

    private static func create(_ path: FilePath, mode: mode_t, _ made: inout [FilePath]) throws(NativeError) {
        if (unsafe path.native { unsafe mkdir($0, mode) }) != 0 {
            switch errno {
            case EEXIST: return
            case ENOENT where path.folder != path:
                try create(path.folder, mode: mode, &made)
                guard (unsafe path.native { unsafe mkdir($0, mode) }) == 0 else {
                    if errno == EEXIST { return }
                    throw .system("mkdir")
                }
            default: throw .system("mkdir")
            }
        }
        made.append(path)
        try FolderHandle(path.folder).synchronize()
    }

    /// Removes those folders of a `create` call that are still empty.
    package static func removeEmpty(_ made: [FilePath]) {
        for path in made.reversed() { unsafe path.native { unsafe _ = rmdir($0) } }
    }

    /// Whether no file can be moved from one folder to the other, because they are on two mounts or subvolumes. It tries to
    /// move a file that does not exist: the system compares the mounts first.
    package static func areApart(_ one: FilePath, _ other: FilePath) -> Bool {
        guard let source = try? FolderHandle(one), let target = try? FolderHandle(other) else { return false }
        if let (one, other) = try? (source.status(), target.status()), one.identity.device != other.identity.device {
            return true
        }
        let name = FolderHandle.trialName()
        do throws(NativeError) { try source.rename(name, to: target, as: name) } catch { return error.isOtherMount }
        return false
    }

    /// The names in a folder, in bytewise order and without `.` and `..`. `FolderNames` needs less memory for many.
    package static func names(in path: FilePath) throws(NativeError) -> [FilePath.Component] {
        try FolderNames(in: path).components
    }
}

/// The names in a folder, in bytewise order and without `.` and `..`. They are in one array, so that a million names
/// need a few tens of megabytes.
package struct FolderNames: Sendable {
    /// The names, each followed by NUL.
    private var characters: [CInterop.PlatformChar] = []
    /// Where the names begin, in their order.
    private var starts: [Int] = []

    package init(in path: FilePath) throws(NativeError) {
        var opened = unsafe path.native { unsafe opendir($0) }
        while unsafe opened == nil && errno == EINTR { unsafe opened = path.native { unsafe opendir($0) } }
        guard let stream = unsafe opened else { throw .system("opendir") }
        defer { unsafe _ = closedir(stream) }
        while true {
            errno = 0
            guard let entry = unsafe readdir(stream) else {
                if errno != 0 { throw .system("readdir") }
                break
            }
            unsafe add(entry)
        }
        let names = characters
        starts.sort { Self.precedes($0, $1, in: names) }
    }

    private mutating func add(_ entry: UnsafeMutablePointer<dirent>) {
        let start = characters.count
        unsafe withUnsafePointer(to: &entry.pointee.d_name) { field in
            unsafe field.withMemoryRebound(to: CChar.self, capacity: 256) { name in
                unsafe characters += UnsafeBufferPointer(start: name, count: strlen(name))
            }
        }
        let dot = CInterop.PlatformChar(UInt8(ascii: "."))
        if [[dot], [dot, dot]].contains(Array(characters[start...].prefix(3))) {
            characters.removeSubrange(start...)
        } else {
            characters.append(0)
            starts.append(start)
        }
    }

    /// Compares the names that begin at these two places.
    private static func precedes(_ one: Int, _ other: Int, in names: [CInterop.PlatformChar]) -> Bool {
        var (one, other) = (one, other)
        while names[one] == names[other] && names[one] != 0 {
            one += 1
            other += 1
        }
        return UInt8(bitPattern: names[one]) < UInt8(bitPattern: names[other])
    }

    package var count: Int { starts.count }

    /// The name at a place in the order; nil if it is not the name of a file.
    package func component(at index: Int) -> FilePath.Component? {
        let rest = characters[starts[index]...]
        return unsafe FilePath.Component(platformString: Array(rest.prefix { $0 != 0 }) + [0])
    }

    package var components: [FilePath.Component] { starts.indices.compactMap { component(at: $0) } }

    package func contains(_ name: FilePath.Component) -> Bool {
        let bytes = name.bytes
        var (low, high) = (0, starts.count)
        while low < high {
            let middle = (low + high) / 2
            let found = characters[starts[middle]...].prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
            if found.lexicographicallyPrecedes(bytes) { low = middle + 1 } else { high = middle }
        }
        return low < starts.count && component(at: low) == name
    }
}
