import CaptureBundle
import CaptureNative
import PictureClient
import Synchronization
import SystemPackage

/// The files of an archive, unpacked one after the other into a temporary file without a name. Nothing is unpacked to a
/// path (Spec/raw-captures.md section 1).
final class ArchiveStorage: RawTreeStorage {
    /// Where a file lies in the temporary file.
    private typealias Place = Range<Int>

    private let temporary: FileHandle
    private let files: [FilePath: Place]
    /// The names in each folder, in bytewise order.
    private let folders: [FilePath: [FilePath.Component]]
    /// The threads that read frames share the position in the temporary file.
    private let reading = Mutex(())

    /// Unpacks the archive at `path`. If its only top-level entry is a folder, that folder is the root.
    ///
    /// - Throws: `raw.archive` for an archive that is broken, hostile or above the limits; `input.unreadable`.
    init(_ path: FilePath, _ decoder: PictureDecoder) throws(BundleError) {
        let archive = try native({ .reading(path, $0) }) { () throws(NativeError) in try FileHandle.reading(path) }
        let temporary = try native({ .writing(TemporaryFile.folder, $0) }) { () throws(NativeError) in
            try TemporaryFile.open()
        }
        var unpacked = Unpacked(temporary: temporary)
        do {
            try decoder.unpack(archive, named: path) { event throws(BundleError) in try unpacked.take(event) }
        } catch {
            guard error.code == .rawCapture else { throw error }
            // A compressed file can be something else than an archive.
            let kind = FileKind(file: path).flatMap { $0.family == .compressed ? $0 : nil }
            let hints = kind.map { FileKind.hints(insteadOfARawFolder: path, $0) } ?? []
            throw BundleError(.rawArchive, error.message, file: path, hints: error.hints + hints)
        }
        self.temporary = temporary
        files = unpacked.inOnlyFolder
        folders = Self.folders(of: files.keys)
        guard files["manifest.json"] == nil || files["assertion.cbor"] == nil else {
            throw BundleError(
                .rawArchive, "holds a capture bundle, which is packed already", file: path,
                hints: ["to unpack it: gzip -dc \(ShellWord.quote(path)) > cap.bundle"])
        }
    }

    /// The files that arrived so far.
    private struct Unpacked {
        let temporary: FileHandle
        private var files: [FilePath: Place] = [:]
        private var current: FilePath?
        private var end = 0

        init(temporary: FileHandle) { self.temporary = temporary }

        mutating func take(_ event: ArchiveEvent) throws(BundleError) {
            switch event {
            case .file(let name):
                var path: FilePath = ""
                for part in name.split(separator: UInt8(ascii: "/")) where part != [UInt8(ascii: ".")] {
                    if let part = FilePath.Component(Array(part)) { path.append(part) }
                }
                files[path] = end..<end
                current = path
            case .bytes(let bytes):
                guard let current, let place = files[current] else { return }
                do { try temporary.write(bytes) } catch { throw .writing(TemporaryFile.folder, error) }
                end += bytes.count
                files[current] = place.lowerBound..<end
            }
        }

        /// The files below the only folder of the archive, or all of them. What macOS adds to its archives is left out.
        var inOnlyFolder: [FilePath: Place] {
            let own = files.filter { path, _ in path.components.first?.string != "__MACOSX" }
            let tops = Set(own.keys.compactMap(\.components.first))
            guard let top = tops.first, tops.count == 1, own.keys.allSatisfy({ $0.components.count > 1 }) else {
                return own
            }
            let prefix = FilePath(root: nil, [top])
            return own.reduce(into: [:]) { inner, file in
                var path = file.key
                if path.removePrefix(prefix) { inner[path] = file.value }
            }
        }
    }

    private static func folders(of files: some Collection<FilePath>) -> [FilePath: [FilePath.Component]] {
        var names: [FilePath: Set<FilePath.Component>] = [:]
        for file in files {
            var path = file
            while let name = path.lastComponent {
                path.removeLastComponent()
                guard names[path, default: []].insert(name).inserted else { break }
            }
        }
        return names.mapValues { $0.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) } }
    }

    func names(in folder: FilePath) -> [FilePath.Component] { folders[folder] ?? [] }

    func holds(_ path: FilePath) -> Bool { files[path] != nil || folders[path] != nil }

    func read(_ path: FilePath, limit: Int, label: FilePath) throws(BundleError) -> [UInt8] {
        guard let place = files[path] else {
            let message = folders[path] == nil ? "no such file or folder" : "is a folder, expected a file"
            throw BundleError(.inputUnreadable, message, file: label)
        }
        guard place.count <= limit else {
            throw BundleError(.rawCapture, "has more than the \(limit) bytes that are allowed", file: label)
        }
        var bytes = [UInt8](repeating: 0, count: place.count)
        let count = try native({ .reading(label, $0) }) { () throws(NativeError) in
            try reading.withLock { _ throws(NativeError) in
                try temporary.seek(to: place.lowerBound)
                return try temporary.read(into: &bytes)
            }
        }
        guard count == place.count else {
            throw BundleError(.inputUnreadable, "changed while it was being packed", file: label)
        }
        return bytes
    }
}
