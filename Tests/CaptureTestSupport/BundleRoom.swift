import CaptureBundle
import CaptureDevice
import CaptureImport
import Foundation
public import SystemPackage

/// A folder with a device key, in which tests of the queue make bundles.
public final class BundleRoom: Sendable {
    public let folder: TemporaryFolder
    private let key: DeviceKeyFile

    public init() throws {
        folder = try TemporaryFolder()
        key = DeviceKeyFile(path: folder.path("keys/device.key"))
        _ = try key.create(passphrase: nil)
    }

    /// Packs a bundle whose photo ends with `mark`, so that each mark gives a different bundle.
    ///
    /// - Returns: the path of the bundle.
    public func bundle(_ mark: String, name: String? = nil) throws -> FilePath {
        let raw = "raw-\(name ?? mark)"
        try RawFolder.write(to: folder, name: raw, photo: RawFolder.photo + Array(mark.utf8))
        let path: FilePath = folder.path("\(name ?? mark).bundle")
        _ = try Packer(key: key).pack(folder.path(raw), to: .replacing(path))
        return path
    }

    public func path(_ name: String) -> String { folder.path(name) }

    /// Returns the same path as a `FilePath`, where the context needs one.
    @_disfavoredOverload
    public func path(_ name: String) -> FilePath { folder.path(name) }
}
