import CaptureNative
package import SystemPackage

/// What can be done with a file or a folder of another kind than expected.
extension FileKind {
    private static func untar(_ path: FilePath) -> String {
        let folder = ShellWord.quote(newFolder(for: path))
        return "mkdir \(folder) && tar -xf \(ShellWord.quote(path)) -C \(folder)"
    }

    /// Not every archive holds one folder, so it is unpacked into a new one.
    private static func newFolder(for archive: FilePath) -> FilePath {
        let endings = [".zip", ".tar", ".tgz", ".tar.gz", ".tar.zst", ".tar.bz2", ".tar.xz"]
        let folder = endings.lazy.compactMap { archive.string.rest(before: $0) }.first.map { FilePath($0) }
        guard let folder, folder.name != nil, !FileStatus.exists(folder) else { return archive.adding(".unpacked") }
        return folder
    }

    /// For a compressed file.
    package static func unpacking(_ path: FilePath, _ format: Format) -> Hint {
        let (text, word) = (path.string, ShellWord.quote(path))
        if text.contains(".tar.") || text.hasSuffix(".tgz") { return "unpack it first: \(untar(path))" }
        let endings = [".gz", ".zst", ".bz2", ".xz"]
        let unpacked = FilePath(endings.compactMap { text.rest(before: $0) }.first ?? text + ".unpacked")
        return "unpack it first: \(format.rawValue) -dc \(word) > \(ShellWord.quote(unpacked))"
    }
}

/// What lies in a folder that was given where a file was expected.
package struct FolderContents {
    private let path: FilePath
    private let bundles: [String]
    package let isRawCapture: Bool

    /// nil where the folder cannot be read.
    package init?(_ path: FilePath) {
        // "name/" arrives as "name/.".
        let isDot = path.lastComponent?.kind == .currentDirectory && path.components.count > 1
        self.path = isDot ? path.removingLastComponent() : path
        guard let names = try? Folders.names(in: path).map(\.string) else { return nil }
        bundles = names.filter { $0.hasSuffix(".bundle") }
        isRawCapture = names.contains("photo.jpg") && names.contains("metadata.json")
    }

    /// The advice to pack a raw capture; nil for another folder.
    package var packing: [Hint]? { isRawCapture ? [.raw(.pack(path))] : nil }

    package var hints: [Hint] {
        if let packing { return packing }
        guard let bundle = bundles.first else { return [] }
        if bundles.count == 1 { return [.verify(path.appending(bundle), .isInFolder)] }
        return [.verifyAll(path, count: bundles.count)]
    }
}
