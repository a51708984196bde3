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
            try requireFolder()
            return nil
        }
    }

    /// Without the folder, nothing is known of any device: its disk may not be mounted.
    private func requireFolder() throws {
        guard FileManager.default.fileExists(atPath: folder.string) else { throw Unavailable("\(folder) is missing") }
    }

    func create(_ name: String, _ bytes: [UInt8]) throws -> Bool {
        let path = path(name)
        try path.removingLastComponent().makeFolder()
        return try WholeFile.create(path, bytes)
    }

    func names(_ prefix: String) throws -> [String] {
        try requireFolder()
        let subfolder = path(prefix)
        guard FileManager.default.fileExists(atPath: subfolder.string) else { return [] }
        let names = try FileManager.default.contentsOfDirectory(atPath: subfolder.string)
        return names.filter { !$0.hasPrefix(".") }.sorted().map { prefix + $0 }
    }

    private func path(_ name: String) -> FilePath { folder.pushing(FilePath(name)) }
}
