import CaptureBundle
import CaptureNative
import GRDB
import QueueFiles
import QueueModel
import Synchronization
import SystemPackage

/// Takes bundles from a folder into which others put them (Spec/queue.md section 14).
///
/// One thread at a time takes. Another one looks for files, and asks for what there is to tell.
final class Inbox: Sendable {
    private struct Refused {
        let status: FileStatus
        /// When to try again, in seconds of the monotonic clock; nil for a file that has to change before that.
        let again: Double?
    }

    private struct State {
        var folder: FilePath?
        /// Why the folder cannot be read, so that it is told once.
        var fault: String?
        var refused: [FilePath: Refused] = [:]
        var texts: [String] = []
        var isTaking = false
        /// Whether files were taken that the run does not know of yet.
        var hasTaken = false
    }

    private let queue: UploadQueue
    private let trust: TrustFile
    private let state = Mutex(State())
    private let isEnding: @Sendable () -> Bool

    /// - Parameter isEnding: whether the run ends, so that no further file is taken.
    init(_ queue: UploadQueue, trust: TrustFile, isEnding: @escaping @Sendable () -> Bool) {
        self.queue = queue
        self.trust = trust
        self.isEnding = isEnding
    }

    /// Reads the setting again.
    func refresh() throws {
        let folder = try queue.store.read { try QueueSettings($0) }.inbox.map { FilePath($0) }
        state.withLock { if $0.folder != folder { ($0.folder, $0.fault, $0.refused) = (folder, nil, [:]) } }
    }

    var isWatched: Bool { state.withLock { $0.folder != nil } }

    /// Whether files are being taken, or there are files to take.
    var isBusy: Bool { state.withLock(\.isTaking) || !waiting().isEmpty }

    var isTaking: Bool { state.withLock(\.isTaking) }

    /// Whether files were taken since the last call.
    func takeNews() -> Bool { state.withLock { exchange(&$0.hasTaken, with: false) } }

    /// Returns what was found since the last call, one text for each file.
    func takeTexts() -> [String] { state.withLock { exchange(&$0.texts, with: []) } }

    /// Takes what there is on a thread of its own, which calls `onEnd`. It does nothing while that thread works.
    func scan(onEnd: @escaping @Sendable () -> Void) {
        guard !isTaking, !waiting().isEmpty else { return }
        state.withLock { $0.isTaking = true }
        let isStarted = Thread.start {
            self.take()
            self.state.withLock { ($0.isTaking, $0.hasTaken) = (false, true) }
            onEnd()
        }
        if !isStarted { state.withLock { $0.isTaking = false } }
    }

    /// Takes what there is. A file is deleted once the queue holds its bytes; a file that is refused stays.
    func take() {
        let files = waiting()
        guard !files.isEmpty else { return }
        var options = PushOptions()
        options.moves = true
        options.isFromInbox = true
        options.trust = trust
        let rest = Mutex(files[...])
        do {
            try queue.push(
                next: { self.isEnding() ? nil : rest.withLock { $0.popFirst() }.map { .success(.file($0)) } },
                options: options
            ) { file, result in note(FilePath(file), result) }
        } catch {
            // Nothing was taken, so each file is tried again.
            for file in files { note(file, .failure(error)) }
        }
    }

    private func note(_ file: FilePath, _ result: Result<Pushed, any Error>) {
        let left = try? FileStatus.ofName(file)
        switch result {
        case .success(let pushed):
            if let fault = pushed.trustFault, pushed.verdict != .unknownDevice {
                report("\(file): stored, but it is not acceptable: \(fault.message)")
            }
            // Without a note, it is another file that came under this name meanwhile.
            guard let left, !pushed.notes.isEmpty else { return }
            refuse(file, left, because: pushed.notes.map(\.words).joined(separator: "; "), isFinal: false)
        case .failure(let error):
            guard let left else { return }
            let fault = error as? BundleError
            refuse(file, left, because: fault?.description ?? "\(error)", isFinal: fault?.verdict != nil)
        }
    }

    /// - Parameter isFinal: whether the same bytes will be refused again.
    private func refuse(_ file: FilePath, _ status: FileStatus, because text: String, isFinal: Bool) {
        let again = isFinal ? nil : MonotonicClock.seconds + 60
        let isKnown =
            state.withLock { $0.refused.updateValue(Refused(status: status, again: again), forKey: file) }?
            .status == status
        if !isKnown { report("left in the inbox: \(text)") }
    }

    private func report(_ text: String) { state.withLock { $0.texts.append(text) } }

    /// The files to try now, in bytewise order of their names.
    private func waiting() -> [FilePath] {
        guard let folder = state.withLock(\.folder) else { return [] }
        let found: [Found]
        do throws(NativeError) { found = try Self.files(in: folder) } catch {
            let fault = error.text
            let isKnown = state.withLock { exchange(&$0.fault, with: fault) == fault }
            if !isKnown { report("\(folder): the inbox cannot be read: \(fault)") }
            return []
        }
        let now = MonotonicClock.seconds
        return state.withLock { state in
            state.fault = nil
            let old = exchange(&state.refused, with: [:])
            return found.compactMap { file in
                guard let known = old[file.path], known.status == file.status else { return file.path }
                state.refused[file.path] = known
                return known.again.map { $0 <= now } ?? false ? file.path : nil
            }
        }
    }
}

extension Inbox {
    typealias Found = (path: FilePath, status: FileStatus)

    /// How long a file may lie there before `status` names it, in milliseconds.
    private static let patience = 600_000

    static func standing(_ folder: FilePath, at now: Int) -> (left: Int, fault: String?) {
        do throws(NativeError) {
            // A sender can set the time of the last change to the bytes, but not that of the last change of all.
            return (try files(in: folder).count { now - $0.status.changed / 1_000_000 > patience }, nil)
        } catch {
            return (0, error.text)
        }
    }

    /// The files with finished names: `*.bundle`, not hidden. Subfolders are not searched.
    private static func files(in folder: FilePath) throws(NativeError) -> [Found] {
        try FolderNames(in: folder).components.compactMap { name in
            let path = folder.appending(name)
            guard FolderWalk.isNamedBundle(path), name.bytes.first != UInt8(ascii: "."),
                let status = try? FileStatus.ofName(path), status.kind != .folder
            else { return nil }
            return (path, status)
        }
    }

    /// Checks the folder for the setting.
    ///
    /// - Returns: its absolute path.
    /// - Throws: `value.invalid`.
    static func path(_ path: FilePath, of queue: QueueFolder) throws(QueueError) -> String {
        let name = QueueSettings.Name.inbox.rawValue
        guard let text = String(validating: path.absolute), let status = try? FileStatus.of(path),
            status.kind == .folder
        else { throw QueueError(.valueInvalid, "\(path) is not a folder", of: name) }
        // In a sticky folder, only its owner may delete what others put there.
        guard (try? ProcessEnvironment.canWrite(folder: path)) != nil, !status.isSticky || status.isThisUsers else {
            throw QueueError(
                .valueInvalid, "\(path) does not let you delete what others put there, expected a folder of yours",
                of: name)
        }
        guard !queue.contains(path), !queue.path.resolved.starts(with: path.resolved) else {
            throw QueueError(
                .valueInvalid, "\(path) is in the queue's folder or around it, expected a folder apart from it",
                of: name)
        }
        return text
    }
}
