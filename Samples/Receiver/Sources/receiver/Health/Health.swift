import CaptureQueue
import Hummingbird
import Logging

/// `GET /healthz`: tries what a capture needs, at most once a minute. A concern does not fail it, because captures are
/// still kept.
actor Health {
    private let parts: [(name: String, attempt: @Sendable () throws -> Void)]
    private let stamper: Stamper?
    private let threads: BlockingThreads
    private let logger: Logger
    private var last: (at: ContinuousClock.Instant, found: Task<(failing: [String], concern: String), Never>)?

    init(
        _ queue: UploadQueue, _ index: CaptureIndex, _ devices: Devices, _ stamper: Stamper?,
        _ threads: BlockingThreads, _ logger: Logger
    ) {
        self.stamper = stamper
        self.threads = threads
        self.logger = logger
        parts = [
            ("queue", { try queue.captures.tryKeeping() }),
            ("index", { try index.tryWriting() }),
            ("devices", { _ = try devices.device("00000000-0000-0000-0000-000000000000") }),
        ]
    }

    func get() async -> Response {
        let (failing, concern) = await found()
        let text = (failing.isEmpty ? "ok\n" : "failing: \(failing.joined(separator: ", "))\n") + concern
        return Response(
            status: failing.isEmpty ? .ok : .serviceUnavailable, headers: [.contentType: "text/plain"],
            body: .init(byteBuffer: ByteBuffer(string: text)))
    }

    /// The names of the parts that fail, and a line about what the operator has to look at.
    private func found() async -> (failing: [String], concern: String) {
        if let last, last.at + .seconds(60) > .now { return await last.found.value }
        let attempts = Task { () -> (failing: [String], concern: String) in
            var failing: [String] = []
            for (name, attempt) in parts {
                do { try await threads.run(attempt) } catch {
                    logger.error("a capture cannot be kept: \(name): \(error)")
                    failing.append(name)
                }
            }
            let waiting = try? await threads.run { try self.stamper?.waiting() }
            guard let waiting, waiting.seconds > 3600 else { return (failing, "") }
            let concern =
                "captures without a time stamp: \(waiting.count), the oldest for \(waiting.seconds / 60) minutes"
            logger.warning("\(concern)")
            return (failing, "concern: \(concern)\n")
        }
        last = (.now, attempts)
        return await attempts.value
    }
}
