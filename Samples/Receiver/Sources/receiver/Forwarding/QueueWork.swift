import CaptureBundle
import CaptureQueue
import Foundation
import Logging
import QueueModel
import Synchronization

/// Sends what was received to the queue's destinations, and deletes what was sent long enough ago. Both go on until
/// the receiver ends. A destination that fails never stops the receiver.
final class QueueWork: Sendable {
    private struct State {
        var run: QueueRun?
        var isStopping = false
    }

    private let folder: QueueFolder
    private let logger: Logger
    private let state = Mutex(State())
    private let ended = DispatchGroup()
    /// The events that are logged, because the operator may have to act.
    private static let logged: Set<QueueEvent.Name> = [
        .permanentlyFailed, .conflict, .quarantined, .blocked, .offline, .ready, .quota,
    ]

    init(_ folder: QueueFolder, _ logger: Logger) {
        self.folder = folder
        self.logger = logger
    }

    /// Starts the threads.
    func start() {
        repeatedly("sending", pause: 5) { try self.send() }
        repeatedly("pruning", pause: 3600) { try self.prune() }
    }

    private func repeatedly(_ name: String, pause: Double, _ step: @escaping @Sendable () throws -> Void) {
        ended.enter()
        Thread { [self] in
            while !isStopping {
                do { try step() } catch { logger.error("\(name): \(error)") }
                sleep(pause)
            }
            ended.leave()
        }.start()
    }

    /// Ends the work. Transfers under way get some seconds. Returns when the threads have ended.
    func stop() {
        let run = state.withLock { state in
            state.isStopping = true
            return state.run
        }
        run?.stop()
        ended.wait()
    }

    private var isStopping: Bool { state.withLock(\.isStopping) }

    private func send() throws {
        let queue = try UploadQueue(at: folder)
        defer { queue.close() }
        var options = RunOptions()
        options.mode = .watch
        let logger = logger
        let run = QueueRun(queue, options) { event in
            guard Self.logged.contains(event.name) else { return }
            let words = [event.name.rawValue, event.destination, event.id, event.message].compactMap(\.self)
            logger.warning("\(words.joined(separator: ": "))")
        }
        let isStopping = state.withLock { state in
            state.run = run
            return state.isStopping
        }
        if !isStopping { _ = try run.perform() }
    }

    private func prune() throws {
        let queue = try UploadQueue(at: folder, freesReserve: true)
        defer { queue.close() }
        _ = try queue.upkeep.prune()
    }

    /// Sleeps for this many seconds, or until the receiver stops.
    private func sleep(_ seconds: Double) {
        let end = Date().addingTimeInterval(seconds)
        while !isStopping, Date() < end { Thread.sleep(forTimeInterval: 0.2) }
    }
}
