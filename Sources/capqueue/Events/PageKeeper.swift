import CaptureBundle
import CaptureNative
import CapturePages
import CaptureQueue
import PictureClient
import QueueModel
import Synchronization
import SystemPackage

/// Keeps the page of `run --page` up to date on a thread of its own, so that sending never waits for it.
final class PageKeeper: Sendable {
    private struct State {
        var isDirty = true
        var isEnding = false
        /// Whether the run was asked to end. Then no more pictures are made for the last page.
        var isHurried = false
        /// Whether no thread is running.
        var isOver = true
    }

    /// The minimum time between two pages in milliseconds.
    private static let pause = 5000
    /// The maximum number of newest captures on the page, and of captures that failed or are held.
    private static let limit = 100

    private let queue: UploadQueue
    private let path: FilePath
    private let state = Mutex(State())
    private let signal = Signal()
    private let warn: @Sendable (String) -> Void

    /// - Parameter warn: Receives a warning when writing the page fails, once until it succeeds again.
    /// - Throws: `output.exists` if there is a file that is not such a page; `output.unusable`.
    init(_ queue: UploadQueue, at path: String, warn: @escaping @Sendable (String) -> Void) throws(BundleError) {
        self.queue = queue
        self.path = FilePath(path)
        self.warn = warn
        _ = try OutputPlace.named(path, replaces: true)
        try ReportPage.requireReplaceable(self.path)
    }

    /// Starts the thread. It inherits the blocked signals of the caller. So a run calls this after it has blocked its stop
    /// signals: otherwise such a signal could end the process.
    func start() {
        state.withLock { $0.isOver = false }
        guard !Thread.start({ self.work() }) else { return }
        state.withLock { $0.isOver = true }
        warn("is written only when the run ends, because \(RunOptions.noThread)")
    }

    /// Remembers that an event of the run may have changed the page.
    func markChanged() { state.withLock { $0.isDirty = true } }

    /// Writes the page for the last time, and waits until it is written.
    ///
    /// - Parameter isHurried: Whether the run was asked to end.
    func finish(isHurried: Bool) {
        let hasThread = state.withLock { state in
            defer { (state.isEnding, state.isHurried) = (true, isHurried) }
            return !state.isOver || state.isEnding
        }
        guard hasThread else { return work() }
        signal.raise()
        signal.wait { state.withLock(\.isOver) ? () : nil }
    }

    private func work() {
        let pictures = BundlePictures()
        var page = QueuePage(
            queue: queue, title: QueuePage.usualTitle, limit: Self.limit, pictures: pictures, keepsPictures: true,
            isHurried: { self.state.withLock(\.isHurried) })
        var seen: QueueStatus?
        var hasFailed = false
        while true {
            let (isDirty, isLast) = state.withLock { (exchange(&$0.isDirty, with: false), $0.isEnding) }
            let status = try? queue.status()
            if isDirty || isLast || hasFailed || status?.changes(from: seen) ?? true {
                do {
                    // Somebody may have put another file there meanwhile.
                    try ReportPage.requireReplaceable(path)
                    try page.write(to: .replacing(path))
                    hasFailed = false
                    seen = status
                } catch {
                    if !hasFailed { warn("cannot be written: \(error)") }
                    hasFailed = true
                }
            }
            if isLast { break }
            _ = signal.wait(milliseconds: Self.pause) { state.withLock(\.isEnding) ? true : nil }
        }
        if let failure = pictures.failure { warn("has no pictures: a photo \(failure.message)") }
        state.withLock { $0.isOver = true }
        signal.raise()
    }
}

extension QueueStatus {
    /// Whether a page about the queue would be different. Ages and free space are ignored, because they change all the
    /// time.
    fileprivate func changes(from other: QueueStatus?) -> Bool {
        guard let other else { return true }
        return totals != other.totals || usedBytes != other.usedBytes || isPaused != other.isPaused
            || work.map(\.destination) != other.work.map(\.destination)
            || work.map(\.totals) != other.work.map(\.totals)
            || concerns().map(\.code) != other.concerns().map(\.code)
    }
}
