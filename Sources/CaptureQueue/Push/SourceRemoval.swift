import CaptureBundle
import CaptureNative

/// `push --move`: the user's file goes once the queue holds its very bytes, and only if it is still the file that was read.
struct SourceRemoval {
    private let queue: UploadQueue

    init(_ queue: UploadQueue) { self.queue = queue }

    func remove(_ arrival: Arrival, _ pushed: Pushed) -> Pushed {
        guard let source = arrival.source, arrival.reference == nil else { return pushed }
        guard pushed.sha256 == arrival.facts.sha256, holdsBytes(pushed) else {
            return pushed.adding(note: "\(source.path) stays: the queue does not hold these very bytes")
        }
        do throws(NativeError) {
            // Not through a link: its target may be in use by others, and the link is not the file that was read.
            let now = try FileStatus.ofName(source.path)
            guard now == source.status else {
                return pushed.adding(note: "\(source.path) stays: it was changed or replaced while it was read")
            }
            _ = try FolderHandle(FilePath.folder(of: source.path)).removeFile(FilePath.name(of: source.path))
            return pushed
        } catch {
            return pushed.adding(note: "\(source.path) stays: it cannot be removed: \(error.text)")
        }
    }

    /// What was stored now was hashed on its way in. What the queue held before is read again: a file that was lost or
    /// changed meanwhile must not cost the last copy.
    private func holdsBytes(_ pushed: Pushed) -> Bool {
        if pushed.outcome == .stored { return true }
        return (try? SpoolReader(queue.spool).matches(pushed.sha256)) ?? false
    }
}
