import CaptureNative
import Synchronization
package import SystemPackage

/// Finds the files and raw captures below a folder, in bytewise order of their paths. It does not follow symbolic links.
package final class FolderWalk: Sendable {
    package enum Found: Sendable {
        case file(FilePath)
        /// A folder with a photo and metadata.
        case rawCapture(FilePath)
        /// A file or folder whose name says that it is not complete. A folder is not entered.
        case temporary(FilePath)
        case link(FilePath)
        /// A pipe, a socket or a device.
        case special(FilePath)
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
        mutating func removeFirst() -> FilePath? {
            if let first = root.take() { return first }
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
    private let leavesUnfinished: Bool
    private let root: FilePath

    /// - Parameters:
    ///   - leavesOut: A folder that is skipped; nil to skip none.
    ///   - leavesUnfinished: Whether the names that other programs give to unfinished files count as temporary too.
    package init(_ path: FilePath, leavesOut: FilePath? = nil, leavesUnfinished: Bool = false) {
        state = Mutex(State(root: path))
        root = path
        leftOut = leavesOut?.resolved
        self.leavesUnfinished = leavesUnfinished
    }

    /// Whether a file should be a bundle by its name, whatever its content is.
    package static func isNamedBundle(_ path: FilePath) -> Bool { name(of: path, endsWith: ".bundle") }

    private static func name(of path: FilePath, endsWith end: String) -> Bool {
        path.name.map { $0.bytes.suffix(end.utf8.count).elementsEqual(end.utf8) } ?? false
    }

    /// Our own hidden names end with `.tmp`. Copying programs and browsers have their own endings (Spec/capqueue.md
    /// section 2.1), and rsync's names begin with a dot.
    private func isTemporary(_ path: FilePath) -> Bool {
        let isHidden = path.name?.bytes.first == UInt8(ascii: ".")
        guard leavesUnfinished else { return isHidden && Self.name(of: path, endsWith: ".tmp") }
        return isHidden
            || [".tmp", ".part", ".partial", ".filepart", ".crdownload"].contains { Self.name(of: path, endsWith: $0) }
    }

    /// Returns the next file, raw capture, link or special file; nil at the end. For a folder that cannot be read it returns a failure, and
    /// the walk continues.
    package func next() -> Result<Found, BundleError>? {
        state.withLock { state in
            while let path = state.removeFirst() {
                do throws(NativeError) {
                    let status = try FileStatus.ofName(path)
                    if path != root && isTemporary(path) { return .success(.temporary(path)) }
                    if status.kind == .file { return .success(.file(path)) }
                    if status.kind == .link && path != root { return .success(.link(path)) }
                    // Only the folder that the user named may be a link.
                    guard status.kind == .folder || path == root && status.kind == .link else {
                        return .success(.special(path))
                    }
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
