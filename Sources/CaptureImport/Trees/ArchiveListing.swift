import CaptureBundle
import CaptureNative
import PictureClient
import Synchronization
import SystemPackage

/// The files of an archive, and where each lies in the temporary file. It is kept small: an archive can have up to
/// 100,000 files.
struct ArchiveListing {
    private struct File {
        /// Where the path is in `names`.
        var name: Range<Int>
        var place: Range<Int>
    }

    /// The paths of all files, with NUL in place of each slash: in bytewise order, the files of a folder then follow each
    /// other, and so do its names.
    private var names: [UInt8] = []
    private var files: [File] = []

    var isEmpty: Bool { files.isEmpty }

    /// Adds a file, whose bytes begin where those of the file before it end.
    mutating func add(_ parts: [ArraySlice<UInt8>]) {
        let (start, end) = (names.count, files.last?.place.upperBound ?? 0)
        names += parts.joined(separator: [0])
        files.append(File(name: start..<names.count, place: end..<end))
    }

    /// Adds bytes to the file that was added last; returns whether there is one.
    mutating func extend(by count: Int) -> Bool {
        guard let place = files.last?.place else { return false }
        files[files.count - 1].place = place.lowerBound..<place.upperBound + count
        return true
    }

    /// Sorts the files for `place(of:)` and `names(in:)`. If all are in one folder, that folder becomes the root. What
    /// macOS adds to its archives is left out.
    mutating func finish() {
        let own = files.filter { !name($0).starts(with: "__MACOSX\0".utf8) }
        files = own.sorted { name($0).lexicographicallyPrecedes(name($1)) }
        guard let first = files.first, let last = files.last,
            let top = name(first).firstIndex(of: 0).map({ $0 + 1 - first.name.lowerBound }),
            name(last).starts(with: name(first).prefix(top))
        else { return }
        for index in files.indices {
            files[index].name = files[index].name.lowerBound + top..<files[index].name.upperBound
        }
    }

    /// Where the file at a path lies in the temporary file; nil if the archive has no such file.
    func place(of path: FilePath) -> Range<Int>? {
        let bytes = Self.bytes(path)
        let index = firstIndex(from: bytes)
        return index < files.count && name(files[index]).elementsEqual(bytes) ? files[index].place : nil
    }

    /// Whether there are files below the path.
    func hasFolder(_ path: FilePath) -> Bool {
        let start = Self.start(of: path)
        let index = firstIndex(from: start)
        return index < files.count && name(files[index]).starts(with: start)
    }

    /// The names in a folder, in bytewise order.
    func names(in folder: FilePath) -> [FilePath.Component] {
        let start = Self.start(of: folder)
        var found: [FilePath.Component] = []
        var before: ArraySlice<UInt8>?
        for file in files[firstIndex(from: start)...] {
            guard name(file).starts(with: start) else { break }
            let own = name(file).dropFirst(start.count).prefix { $0 != 0 }
            if own != before, let part = FilePath.Component(Array(own)) { found.append(part) }
            before = own
        }
        return found
    }

    private func name(_ file: File) -> ArraySlice<UInt8> { names[file.name] }

    /// The number of files whose names come before `bytes`.
    private func firstIndex(from bytes: [UInt8]) -> Int {
        var (low, high) = (0, files.count)
        while low < high {
            let middle = (low + high) / 2
            if name(files[middle]).lexicographicallyPrecedes(bytes) { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private static func bytes(_ path: FilePath) -> [UInt8] {
        Array(path.components.map(\.bytes).joined(separator: [0]))
    }

    /// The beginning of the names of all files in a folder.
    private static func start(of folder: FilePath) -> [UInt8] { folder.isEmpty ? [] : bytes(folder) + [0] }
}

/// The files of an archive, unpacked one after the other into a temporary file without a name. Nothing is unpacked to a
/// path (Spec/raw-captures.md section 1).
final class ArchiveStorage: RawTreeStorage {
    private let temporary: FileHandle
    private let listing: ArchiveListing
    /// The threads that read frames share the position in the temporary file.
    private let reading = Mutex(())

    /// Unpacks the archive at `path`. If its only top-level entry is a folder, that folder is the root.
    ///
    /// - Throws: `raw.archive` for an archive that is broken, hostile or above the limits; `input.unreadable`.
    init(_ path: FilePath, _ decoder: PictureDecoder) throws(BundleError) {
        let archive = try native({ .reading(path, $0) }) { try FileHandle.reading(path) }
        let temporary = try OutputTarget.temporary()
        var listing = ArchiveListing()
        do throws(BundleError) {
            try decoder.unpack(archive, named: path) { event throws(BundleError) in
                switch event {
                case .file(let name):
                    listing.add(name.split(separator: UInt8(ascii: "/")).filter { $0 != [UInt8(ascii: ".")] })
                case .bytes(let bytes):
                    guard listing.extend(by: bytes.count) else { return }
                    try native(OutputTarget.temporaryFailure) { try temporary.write(bytes) }
                }
            }
        } catch {
            // A compressed file without a single file in it may be something else than an archive.
            guard listing.isEmpty, let kind = FileKind(file: path), kind.family == .compressed else { throw error }
            throw error.with(error.cause, error.values + [kind.format?.rawValue].compactMap(\.self))
        }
        listing.finish()
        (self.temporary, self.listing) = (temporary, listing)
        guard listing.place(of: "manifest.json") == nil || listing.place(of: "assertion.cbor") == nil else {
            throw BundleError(
                .rawArchive, "holds a capture bundle, which is packed already", file: path, cause: .packedAlready)
        }
    }

    func names(in folder: FilePath) -> [FilePath.Component] { listing.names(in: folder) }

    func has(_ path: FilePath) -> Bool { listing.place(of: path) != nil || listing.hasFolder(path) }

    func read(_ path: FilePath, limit: Int, label: FilePath) throws(BundleError) -> [UInt8] {
        guard let place = listing.place(of: path) else {
            let message = !listing.hasFolder(path) ? "no such file or folder" : "is a folder, expected a file"
            throw BundleError(.inputUnreadable, message, file: label)
        }
        guard place.count <= limit else {
            throw BundleError(.rawCapture, "has more than the \(limit) bytes that are allowed", file: label)
        }
        var bytes = [UInt8](repeating: 0, count: place.count)
        let count = try native({ .reading(label, $0) }) {
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
