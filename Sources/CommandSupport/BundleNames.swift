package import CaptureBundle
import CaptureNative
import Synchronization
import SystemPackage

/// Finds the bundles for the arguments of a command: files, and the bundles in folders. They are returned one by one.
package final class BundleNames: Sendable {
    private struct State {
        var names: ArraySlice<String>
        var walk: FolderWalk?
        var folder: FilePath?
        /// Whether a bundle was found in the folder.
        var hasFound = false
        var leftOut = 0
        var links = 0
        /// The first folder in which links were left out.
        var linksFolder: FilePath?
    }

    private let state: Mutex<State>
    /// The names on standard input; nil if the names are arguments.
    private let list: NameList?

    private let searchesFolders: Bool

    /// - Parameters:
    ///   - names: The names that are arguments; `-` means standard input.
    ///   - isList: Whether the names are on standard input instead.
    ///   - searchesFolders: Whether a folder stands for the bundles in it.
    package init(_ names: [String], isList: Bool, searchesFolders: Bool = true) {
        state = Mutex(State(names: names[...]))
        self.searchesFolders = searchesFolders
        list = isList ? NameList() : nil
    }

    /// Says how many files and links in the folders were left out.
    ///
    /// - Parameter command: The command that reads names from standard input.
    package func reportLeftOut(_ diagnostic: Diagnostic, command: String) {
        let state = self.state.withLock(\.self)
        if state.leftOut > 0 {
            let files = Quantity.count(state.leftOut, "file that is", plural: "files that are", on: .messages)
            diagnostic.note("left out \(files) not in the form of a bundle")
        }
        if let folder = state.linksFolder {
            let links = Quantity.count(state.links, "symbolic link", on: .messages)
            let search = "find -L \(ShellWord.quote(folder)) -type f -name '*.bundle' -print0"
            diagnostic.note("left out \(links)")
            diagnostic.note("to follow links (add your other folders and options)", command: "\(search) | \(command)")
        }
    }

    /// Returns the next bundle; nil at the end. For a folder without a bundle it returns a failure, and for a folder or
    /// file that cannot be read.
    package func next() -> Result<BundleSource.Place, BundleError>? {
        while true {
            if let found = state.withLock({ Self.step(&$0) }) { return found }
            let name: String
            switch list.map({ $0.next() }) ?? state.withLock({ $0.names.popFirst() }).map({ .success($0) }) {
            case .success(let next)?: name = next
            case .failure(let error)?: return .failure(error)
            case nil: return nil
            }
            if name == "-" && list == nil { return .success(.standardInput) }
            let path = FilePath(folder: name)
            guard searchesFolders, (try? FileStatus.of(path))?.kind == .folder else {
                return .success(.file(FilePath(file: name)))
            }
            state.withLock { state in
                state.walk = FolderWalk(path)
                state.folder = path
                state.hasFound = false
            }
        }
    }

    /// Returns the next bundle of the current folder. Returns nil at the end of the folder, or if no folder is open.
    private static func step(_ state: inout State) -> Result<BundleSource.Place, BundleError>? {
        while let found = state.walk?.next() {
            switch found {
            case .failure(let error):
                state.hasFound = true
                return .failure(error)
            case .success(.rawCapture): continue
            case .success(.temporary), .success(.special): state.leftOut += 1
            case .success(.link):
                state.links += 1
                state.linksFolder = state.linksFolder ?? state.folder
            case .success(.file(let path)):
                do throws(NativeError) {
                    guard try isBundle(path) else {
                        state.leftOut += 1
                        continue
                    }
                    state.hasFound = true
                    return .success(.file(path))
                } catch  where error.isMissing {
                    continue
                } catch {
                    state.hasFound = true
                    return .failure(.reading(path, error))
                }
            }
        }
        state.walk = nil
        guard let folder = state.folder.take() else { return nil }
        if state.hasFound { return nil }
        return .failure(
            BundleError(
                .inputUnreadable, "the folder has no bundle, expected files that end with .bundle", file: folder))
    }

    /// Whether a file is a bundle, by its first bytes or its name. A damaged bundle may be recognised only by its name.
    private static func isBundle(_ path: FilePath) throws(NativeError) -> Bool {
        if FolderWalk.isNamedBundle(path) { return true }
        return try FileKind(reading: path)?.family == .bundle
    }
}
