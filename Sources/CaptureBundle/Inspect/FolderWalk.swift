import CaptureNative
import Synchronization
package import SystemPackage

/// Finds the files and raw captures below a folder, in bytewise order of their paths. It does not follow symbolic links.
package final class FolderWalk: Sendable {
    package enum Found: Sendable {
        case file(FilePath)
        /// A folder with a photo and metadata.
        case rawCapture(FilePath)
    }

    private let waiting: Mutex<[FilePath]>
    private let leftOut: FilePath?
    private let root: FilePath

    /// - Parameter leavesOut: A folder that is skipped; nil to skip none.
    package init(_ path: FilePath, leavesOut: FilePath? = nil) {
        waiting = Mutex([path])
        root = path
        leftOut = leavesOut?.resolved
    }

    package static func isRawCapture(_ names: [FilePath.Component]) -> Bool {
        names.contains("photo.jpg") && names.contains("metadata.json")
    }

    /// Returns the next file or raw capture; nil at the end. For a folder that cannot be read it returns a failure, and
    /// the walk continues.
    package func next() -> Result<Found, BundleError>? {
        waiting.withLock { waiting in
            while let path = waiting.popLast() {
                do throws(NativeError) {
                    let status = try FileStatus.ofName(path)
                    if status.kind == .file { return .success(.file(path)) }
                    // Only the folder that the user named may be a link.
                    guard status.kind == .folder || path == root && status.kind == .link else { continue }
                    guard leftOut == nil || path.resolved != leftOut else { continue }
                    let names = try DirectoryHandle.names(in: path)
                    waiting += names.reversed().map { path.appending($0) }
                    if Self.isRawCapture(names) {
                        return .success(.rawCapture(path))
                    }
                } catch  where error.isMissing {
                    continue
                } catch {
                    return .failure(.reading(path, error))
                }
            }
            return nil
        }
    }
}
