/// Threads on which pages read bundles and decode pictures. Each thread works on one page at a time, so the number of
/// threads bounds the memory that pages need. Requests for one capture never use more than one thread.
actor PageThreads {
    private nonisolated let threads: BlockingThreads
    /// The maximum number of requests that wait for a thread or use one.
    private let limit: Int
    private var count = 0
    /// The end of the last request for each capture.
    private var last: [String: Task<Void, Never>] = [:]

    init(limit: Int) {
        threads = BlockingThreads(count: 2)
        self.limit = limit
    }

    /// Runs a blocking call, after those for the same capture.
    ///
    /// - Throws: `PagesBusy` if too many requests wait, and any error of `body`.
    func run<Value: Sendable>(
        for capture: String?, _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        guard count < limit else { throw PagesBusy() }
        count += 1
        let earlier = capture.flatMap { last[$0] }
        let task = Task {
            await earlier?.value
            return try await threads.run(body)
        }
        let end = Task { _ = await task.result }
        if let capture { last[capture] = end }
        defer {
            count -= 1
            if let capture, last[capture] == end { last[capture] = nil }
        }
        return try await task.value
    }

    nonisolated func stop() async { await threads.stop() }
}

/// Too many requests for pages wait.
struct PagesBusy: Error {}
