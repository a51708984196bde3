import CaptureNative
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
