import CaptureBundle
import Foundation
import SystemPackage

/// Objects as files of a folder. The part of a name before the slash is a subfolder.
struct FolderObjects: ObjectStore {
    let folder: FilePath

    func get(_ name: String) throws -> [UInt8]? {
        do {
            return Array(try Data(contentsOf: URL(filePath: path(name).string)))
        } catch CocoaError.fileReadNoSuchFile {
            return nil
        }
    }

    func create(_ name: String, _ bytes: [UInt8]) throws -> Bool {
        let path = path(name)
        try FileManager.default.createDirectory(
            atPath: path.removingLastComponent().string, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        return try WholeFile.create(path, bytes)
    }

    func names(_ prefix: String) throws -> [String] {
        let subfolder = path(prefix)
        guard FileManager.default.fileExists(atPath: subfolder.string) else { return [] }
        let names = try FileManager.default.contentsOfDirectory(atPath: subfolder.string)
        return names.filter { !$0.hasPrefix(".") }.sorted().map { prefix + $0 }
    }

    private func path(_ name: String) -> FilePath { folder.pushing(FilePath(name)) }
}
