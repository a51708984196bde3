import CaptureBundle
import Foundation
public import SystemPackage

/// A folder with a device key and bundles that differ, for tests of the queue.
public final class BundleRoom: Sendable {
    public let folder: TemporaryFolder
    private let key: DeviceKeyFile

    public init() throws {
        folder = try TemporaryFolder()
        key = DeviceKeyFile(path: folder.path("keys/device.key"))
        _ = try key.create(passphrase: nil)
    }

    /// Packs a bundle whose photo ends with a mark of its own.
    ///
    /// - Returns: its path.
    public func bundle(_ mark: String, name: String? = nil) throws -> FilePath {
        let raw = "raw-\(name ?? mark)"
        try RawFolder.write(to: folder, name: raw, photo: RawFolder.photo + Array(mark.utf8))
        let path: FilePath = folder.path("\(name ?? mark).bundle")
        _ = try Packer(key: key).pack(folder.path(raw), to: .replacing(path))
        return path
    }

    public func path(_ name: String) -> String { folder.path(name) }

    /// The same for our libraries, where the context asks for it.
    @_disfavoredOverload
    public func path(_ name: String) -> FilePath { folder.path(name) }
}
