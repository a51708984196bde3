import CaptureBundle
import CaptureNative
import SystemPackage

/// What can be done with a file of another kind than expected.
extension FileKind {
    /// For a file where a bundle was expected.
    func adviceInsteadOfABundle(_ path: FilePath) -> [String] {
        let word = ShellWord.quote(path)
        switch family {
        case .zip: return ["unpack it first: unzip -d \(ShellWord.quote(Self.newFolder(for: path))) \(word)"]
        case .tar: return ["if bundles are in it, unpack it first: \(Self.untar(path))"]
        case .compressed: return format.map { [Self.unpacking(path, $0)] } ?? []
        case .uploadBody: return ["to restore the bundle from this upload body: capbundle from-body \(word) -o FILE"]
        case .jpeg, .heif, .picture, .depthPicture, .numpy, .json:
            return [
                FolderContents(path.folder)?.packing
                    ?? "to make a bundle from a raw folder: capbundle pack RAW -o FILE"
            ]
        case .movie, .document, .text, .program, .bundle: return []
        }
    }

    /// For a compressed file.
    static func unpacking(_ path: FilePath, _ format: Format) -> String {
        let (text, word) = (path.string, ShellWord.quote(path))
        if text.contains(".tar.") || text.hasSuffix(".tgz") { return "unpack it first: \(untar(path))" }
        let endings = [".gz", ".zst", ".bz2", ".xz"]
        let unpacked = FilePath(endings.compactMap { text.rest(before: $0) }.first ?? text + ".unpacked")
        return "unpack it first: \(format.rawValue) -dc \(word) > \(ShellWord.quote(unpacked))"
    }

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
}
