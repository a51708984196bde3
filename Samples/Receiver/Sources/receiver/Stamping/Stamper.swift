import CaptureBundle
import Logging
import ServiceLifecycle
import Synchronization

/// Gets a time stamp for each capture after it was kept, for the oldest first. If that fails, it is tried again after
/// pauses that grow. Uploads never wait for it.
struct Stamper: Service {
    let authority: StampingAuthority
    let depot: Depot

    func run() async {
        let isStopped = Atomic(false)
        await cancelWhenGracefulShutdown {
            await withTaskCancellationHandler {
                var pause = 1
                while !Task.isCancelled {
                    do {
                        let isFound = try await depot.threads.run {
                            try stampOldest { isStopped.load(ordering: .relaxed) }
                        }
                        pause = 1
                        if isFound { continue }
                    } catch  where !Task.isCancelled {
                        pause = min(2 * pause, 300)
                        // The error may quote the authority.
                        let words = String(reflecting: "\(error)")
                        depot.logger.warning("no time stamp; the next try is in \(pause) s: \(words)")
                    } catch {}
                    try? await Task.sleep(for: .seconds(pause))
                }
            } onCancel: {
                isStopped.store(true, ordering: .relaxed)
            }
        }
    }

    /// - Returns: false if no capture waits for a time stamp.
    private func stampOldest(isStopped: () -> Bool) throws -> Bool {
        guard let oldest = try depot.index.unstamped()?.oldest,
            let assertion = oldest.unstamped.flatMap(Digest.init(hex:))
        else { return false }
        try depot.index.keep(authority.stamp(assertion, isStopped: isStopped), of: oldest.id)
        return true
    }

    /// The number of captures that wait for a time stamp, and for how many seconds the oldest has.
    func waiting() throws -> (count: Int, seconds: Int) {
        guard let (oldest, count) = try depot.index.unstamped() else { return (0, 0) }
        return (count, max(0, UnixTime.now - oldest.receivedAt) / 1000)
    }
}
