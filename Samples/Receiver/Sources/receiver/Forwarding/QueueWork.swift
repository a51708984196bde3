import CaptureQueue
import Logging
import QueueModel
import ServiceLifecycle

/// Sends what was received to the queue's destinations, and deletes what was sent long enough ago, until the receiver
/// ends. A destination that fails never stops the receiver.
struct QueueWork: Service {
    let depot: Depot
    /// The events that are logged, because the operator may have to act.
    private static let logged: Set<QueueEvent.Name> = [
        .permanentlyFailed, .conflict, .quarantined, .blocked, .offline, .ready, .quota,
    ]

    func run() async {
        await cancelWhenGracefulShutdown {
            async let sending: Void = repeatedly("sending", every: .seconds(5)) { try await send() }
            await repeatedly("pruning", every: .seconds(3600)) { try await prune() }
            await sending
        }
    }

    private func repeatedly(
        _ name: String, every pause: Duration, _ step: @Sendable () async throws -> Void
    ) async {
        while !Task.isCancelled {
            do { try await step() } catch {
                if !Task.isCancelled { depot.logger.error("\(name): \(error)") }
            }
            try? await Task.sleep(for: pause)
        }
    }

    private func send() async throws {
        let queue = try UploadQueue(at: depot.queue.folder)
        defer { queue.close() }
        var options = RunOptions()
        options.mode = .watch
        try await queue.run(options) { event in
            guard Self.logged.contains(event.name) else { return }
            let words = [event.name.rawValue, event.destination, event.id, event.message].compactMap(\.self)
            depot.logger.warning("\(words.joined(separator: ": "))")
        }
    }

    private func prune() async throws {
        let queue = try UploadQueue(at: depot.queue.folder, freesReserve: true)
        defer { queue.close() }
        try await queue.upkeep.prune()
    }
}
