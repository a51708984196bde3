import NIOPosix

/// Threads for calls that wait for the disk. The event loops and Swift's own threads never wait for it.
struct BlockingThreads: Sendable {
    let pool: NIOThreadPool

    init(count: Int) {
        pool = NIOThreadPool(numberOfThreads: count)
        pool.start()
    }

    func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await pool.runIfActive(body)
    }

    func stop() async { try? await pool.shutdownGracefully() }
}
