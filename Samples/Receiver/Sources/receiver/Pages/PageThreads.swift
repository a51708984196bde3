import Synchronization

/// Threads on which pages read bundles and decode pictures. Each thread works on one page at a time, so the number of
/// threads bounds the memory that pages need. Requests for one capture never use more than one thread.
final class PageThreads: Sendable {
    private struct State {
        var count = 0
        /// The last request for each capture.
        var last: [String: (number: Int, task: Task<Void, Never>)] = [:]
        var number = 0
    }

    private let threads: BlockingThreads
    private let state = Mutex(State())
    private let limit: Int

    /// - Parameters:
    ///   - count: The number of threads.
    ///   - limit: The maximum number of requests that wait for a thread or use one.
    init(count: Int, limit: Int) {
        threads = BlockingThreads(count: count)
        self.limit = limit
    }

    /// Runs a blocking call, after those for the same capture.
    ///
    /// - Parameter capture: The id of the capture; nil if the call is not about one capture.
    /// - Throws: `PagesBusy` if too many requests wait, and any error of `body`.
    func run<Value: Sendable>(
        for capture: String?, _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        let (task, number) = try state.withLock { state in
            guard state.count < limit else { throw PagesBusy() }
            state.count += 1
            state.number += 1
            let earlier = capture.flatMap { state.last[$0]?.task }
            let task = Task {
                await earlier?.value
                return try await threads.run(body)
            }
            if let capture { state.last[capture] = (state.number, Task { _ = await task.result }) }
            return (task, state.number)
        }
        defer {
            state.withLock { state in
                state.count -= 1
                if let capture, state.last[capture]?.number == number { state.last[capture] = nil }
            }
        }
        return try await task.value
    }

    func stop() async { await threads.stop() }
}

/// Too many requests for pages wait.
struct PagesBusy: Error {}
