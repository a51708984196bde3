import CaptureNative
import Synchronization
package import SystemPackage

/// Finds the files and raw captures below a folder, in bytewise order of their paths. It does not follow symbolic links.
package final class FolderWalk: Sendable {
    package enum Found: Sendable {
        case file(FilePath)
        /// A folder with a photo and metadata.
        case rawCapture(FilePath)
        /// A file or folder with a hidden temporary name, which an interrupted run left. A folder is not entered.
        case temporary(FilePath)
        case link(FilePath)
    }

    /// A folder whose names are being returned.
    private struct Level {
        let folder: FilePath
        let names: FolderNames
        var next = 0
    }

    private struct State {
        /// The first path; nil after it was taken.
        var root: FilePath?
        var levels: [Level] = []

        /// Takes the next path; nil at the end.
        mutating func take() -> FilePath? {
            if let first = root {
                root = nil
                return first
            }
            while var level = levels.popLast() {
                guard level.next < level.names.count else { continue }
                let name = level.names.component(at: level.next)
                level.next += 1
                levels.append(level)
                if let name { return level.folder.appending(name) }
            }
            return nil
        }
    }

    private let state: Mutex<State>
    private let leftOut: FilePath?
    private let root: FilePath

    /// - Parameter leavesOut: A folder that is skipped; nil to skip none.
    package init(_ path: FilePath, leavesOut: FilePath? = nil) {
        state = Mutex(State(root: path))
        root = path
        leftOut = leavesOut?.resolved
    }

    package static func isRawCapture(_ names: [FilePath.Component]) -> Bool {
        names.contains("photo.jpg") && names.contains("metadata.json")
    }

    /// Whether the name begins with `.` and ends with `.tmp`, as the names of files that are not complete yet.
    private static func isTemporary(_ path: FilePath) -> Bool {
        guard let bytes = path.name?.bytes else { return false }
        return bytes.first == UInt8(ascii: ".") && bytes.suffix(4).elementsEqual(".tmp".utf8)
    }

    /// Returns the next file, raw capture or link; nil at the end. For a folder that cannot be read it returns a failure, and
    /// the walk continues.
    package func next() -> Result<Found, BundleError>? {
        state.withLock { state in
            while let path = state.take() {
                do throws(NativeError) {
                    let status = try FileStatus.ofName(path)
                    if path != root && Self.isTemporary(path) && (status.kind == .file || status.kind == .folder) {
                        return .success(.temporary(path))
                    }
                    if status.kind == .file { return .success(.file(path)) }
                    if status.kind == .link && path != root { return .success(.link(path)) }
                    // Only the folder that the user named may be a link.
                    guard status.kind == .folder || path == root && status.kind == .link else { continue }
                    guard leftOut == nil || path.resolved != leftOut else { continue }
                    let names = try FolderNames(in: path)
                    state.levels.append(Level(folder: path, names: names))
                    if names.contains("photo.jpg") && names.contains("metadata.json") {
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
