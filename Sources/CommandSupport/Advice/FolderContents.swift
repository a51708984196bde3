import CaptureBundle
import CaptureNative
import SystemPackage

/// What lies in a folder that was given where a file was expected.
struct FolderContents {
    private let path: FilePath
    private let bundles: [String]
    private let isRawCapture: Bool

    /// nil where the folder cannot be read.
    init?(_ path: FilePath) {
        // "name/" arrives as "name/.".
        let isDot = path.lastComponent?.kind == .currentDirectory && path.components.count > 1
        self.path = isDot ? path.removingLastComponent() : path
        guard let names = try? Folders.names(in: path).map(\.string) else { return nil }
        bundles = names.filter { $0.hasSuffix(".bundle") }
        isRawCapture = names.contains("photo.jpg") && names.contains("metadata.json")
    }

    /// How to pack a raw capture; nil for another folder.
    var packing: String? {
        let word = ShellWord.quote(path)
        return isRawCapture ? "\(word) is a raw capture; to make a bundle from it: capbundle pack \(word) -o FILE" : nil
    }

    var advice: [String] {
        if let packing { return [packing] }
        guard let bundle = bundles.first else { return [] }
        if bundles.count == 1 {
            return ["it holds a bundle; to check it: capbundle verify \(ShellWord.quote(path.appending(bundle)))"]
        }
        let word = path == "/" ? "" : ShellWord.quote(path)
        return ["it holds \(bundles.count) bundles; to check them: capbundle verify \(word)/*.bundle"]
    }
}
