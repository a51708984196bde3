import Foundation
import SystemPackage

/// The name of a file that is removed with this object.
final class TemporaryFile: Sendable {
    let path: FilePath

    init(_ path: FilePath) { self.path = path }

    deinit { try? FileManager.default.removeItem(atPath: path.string) }
}
