import Synchronization

/// The threads on which pages read bundles and decode pictures. Each thread works on one page at a time, so the number of
/// threads bounds the memory that pages need.
final class PageThreads: Sendable {
    private let threads: BlockingThreads
    private let waiting = Mutex(0)
    private let limit: Int

    /// - Parameters:
    ///   - count: The number of threads.
    ///   - limit: The maximum number of requests that wait for a thread or use one.
    init(count: Int, limit: Int) {
        threads = BlockingThreads(count: count)
        self.limit = limit
    }

    /// Runs a blocking call.
    ///
    /// - Throws: `PagesBusy` if too many requests wait, and any error of `body`.
    func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        let isFree = waiting.withLock { count in
            guard count < limit else { return false }
            count += 1
            return true
        }
        guard isFree else { throw PagesBusy() }
        defer { waiting.withLock { $0 -= 1 } }
        return try await threads.run(body)
    }

    func stop() async { await threads.stop() }
}

/// Too many requests for pages wait.
struct PagesBusy: Error {}
