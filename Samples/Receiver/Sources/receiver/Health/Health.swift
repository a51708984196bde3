import CaptureQueue
import Hummingbird
import Logging

/// `GET /healthz`: tries what a capture needs, at most once a minute.
actor Health {
    private let parts: [(name: String, attempt: @Sendable () throws -> Void)]
    private let threads: BlockingThreads
    private let logger: Logger
    private var last: (at: ContinuousClock.Instant, failing: Task<[String], Never>)?

    init(
        _ queue: UploadQueue, _ index: CaptureIndex, _ devices: Devices, _ threads: BlockingThreads, _ logger: Logger
    ) {
        self.threads = threads
        self.logger = logger
        parts = [
            ("queue", { try queue.captures.tryKeeping() }),
            ("index", { try index.tryWriting() }),
            ("devices", { _ = try devices.device("00000000-0000-0000-0000-000000000000") }),
        ]
    }

    func get() async -> Response {
        let failing = await failing()
        let text = failing.isEmpty ? "ok\n" : "failing: \(failing.joined(separator: ", "))\n"
        return Response(
            status: failing.isEmpty ? .ok : .serviceUnavailable, headers: [.contentType: "text/plain"],
            body: .init(byteBuffer: ByteBuffer(string: text)))
    }

    /// The names of the parts that fail.
    private func failing() async -> [String] {
        if let last, last.at + .seconds(60) > .now { return await last.failing.value }
        let attempts = Task {
            var failing: [String] = []
            for (name, attempt) in parts {
                do { try await threads.run(attempt) } catch {
                    logger.error("a capture cannot be kept: \(name): \(error)")
                    failing.append(name)
                }
            }
            return failing
        }
        last = (.now, attempts)
        return await attempts.value
    }
}
