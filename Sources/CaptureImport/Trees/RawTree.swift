import CaptureBundle
import CaptureNative
package import SystemPackage

/// The files of a raw capture, from a folder on disk or from an archive. All paths are relative to its root.
package struct RawTree: Sendable {
    /// The folder or archive as the user named it.
    let root: FilePath
    let storage: any RawTreeStorage

    /// Whether this is a folder on disk.
    var isFolder: Bool { storage is FolderStorage }

    /// The form of a path for messages.
    package func label(_ path: FilePath) -> FilePath { root.pushing(path) }

    /// The names of files and folders in a folder, in bytewise order. If the folder does not exist or cannot be read,
    /// there are none. For the root this never fails: its names were read before.
    package func names(in folder: FilePath = "") -> [FilePath.Component] { (try? list(folder)) ?? [] }

    /// The names of files and folders in a folder, in bytewise order. If the folder does not exist, there are none.
    ///
    /// - Throws: `input.unreadable` or `io.failed` if the names cannot be read.
    func list(_ folder: FilePath) throws(BundleError) -> [FilePath.Component] { try storage.names(in: folder) }

    /// Whether a file or folder has this path. True also if it cannot be looked up: reading it then fails with the reason.
    func has(_ path: FilePath) -> Bool { storage.has(path) }

    /// Reads a whole file.
    ///
    /// - Throws: `input.unreadable` or `io.failed` if the file cannot be read; `raw.capture` if it has more than
    ///   `limit` bytes or is not a regular file.
    func read(_ path: FilePath, limit: Int) throws(BundleError) -> [UInt8] {
        try storage.read(path, limit: limit, label: label(path))
    }

    /// The open file, if it is a file of its own on disk; nil for one in an archive.
    func handle(_ path: FilePath) throws(BundleError) -> FileHandle? {
        try (storage as? FolderStorage)?.open(path, label(path))
    }

    /// Reads a JSON file. A number keeps its digits.
    func json(_ path: FilePath, limit: Int = 16 << 20) throws(BundleError) -> JSONValue {
        let bytes = try read(path, limit: limit)
        do { return try JSONParser.parse(bytes, nesting: BundleLimits.metadataNesting) } catch {
            if bytes.starts(with: [0xef, 0xbb, 0xbf]) {
                throw BundleError(
                    .rawCapture, "begins with a UTF-8 byte order mark, expected {", file: label(path),
                    cause: .byteOrderMark)
            }
            if let kind = FileKind(bytes), ![.json, .text].contains(kind.family) {
                throw BundleError(.rawCapture, "is \(kind.words), expected a JSON object", file: label(path))
            }
            let place = JSONParser.place(of: error.offset, in: bytes)
            throw BundleError(.rawCapture, "not usable JSON at \(place): \(error.message)", file: label(path))
        }
    }
}

extension RawTree {
    /// The files of a folder on disk; nil if its names cannot be read.
    package init?(folder: FilePath) {
        guard let storage = try? FolderStorage(listing: folder) else { return nil }
        self.init(root: folder, storage: storage)
    }
}

/// The place from which a `RawTree` reads its files.
protocol RawTreeStorage: Sendable {
    func names(in folder: FilePath) throws(BundleError) -> [FilePath.Component]
    func has(_ path: FilePath) -> Bool
    /// Reads a whole file.
    ///
    /// - Parameter label: The path of the file for messages.
    func read(_ path: FilePath, limit: Int, label: FilePath) throws(BundleError) -> [UInt8]
}

struct FolderStorage: RawTreeStorage {
    let folder: FilePath
    /// The names in the folder itself.
    private var top: [FilePath.Component] = []

    /// For a folder whose names are not needed.
    init(folder: FilePath) { self.folder = folder }

    /// - Throws: `input.unreadable` if the names cannot be read.
    init(listing folder: FilePath) throws(BundleError) {
        self.folder = folder
        top = try native({ .reading(folder, $0) }) { try Folders.names(in: folder) }
    }

    func names(in path: FilePath) throws(BundleError) -> [FilePath.Component] {
        if path.isEmpty { return top }
        let place = folder.pushing(path)
        return try native({ .reading(place, $0) }) { try allowing(\.isMissing) { try Folders.names(in: place) } } ?? []
    }

    func has(_ path: FilePath) -> Bool { !FileStatus.isMissing(folder.pushing(path)) }

    func read(_ path: FilePath, limit: Int, label: FilePath) throws(BundleError) -> [UInt8] {
        let file = try open(path, label)
        return try native({
            $0.isTooLarge
                ? BundleError(.rawCapture, "has more than the \(limit) bytes that are allowed", file: label)
                : .reading(label, $0)
        }) { () throws(NativeError) in try file.readAll(limit: limit) }
    }

    func open(_ path: FilePath, _ label: FilePath) throws(BundleError) -> FileHandle {
        try native({ .reading(label, $0) }) {
            guard let handle = try FileHandle.readingPlainFile(folder.pushing(path)) else {
                throw BundleError(.rawCapture, "is not a regular file", file: label)
            }
            return handle
        }
    }
}
