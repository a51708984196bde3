/// Threads on which pages read bundles and decode pictures. Each thread works on one page at a time, so the number of
/// threads bounds the memory that pages need. Requests for one capture never use more than one thread.
actor PageThreads {
    private nonisolated let threads: BlockingThreads
    private let limit: Int
    private var count = 0
    private var number = 0
    /// The last request for each capture.
    private var last: [String: (number: Int, task: Task<Void, Never>)] = [:]

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
        guard count < limit else { throw PagesBusy() }
        count += 1
        number += 1
        let own = number
        let earlier = capture.flatMap { last[$0]?.task }
        let task = Task {
            await earlier?.value
            return try await threads.run(body)
        }
        if let capture { last[capture] = (own, Task { _ = await task.result }) }
        defer {
            count -= 1
            if let capture, last[capture]?.number == own { last[capture] = nil }
        }
        return try await task.value
    }

    nonisolated func stop() async { await threads.stop() }
}

/// Too many requests for pages wait.
struct PagesBusy: Error {}
