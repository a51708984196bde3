import CaptureQueue
import Hummingbird

/// `GET /healthz` and `GET /metrics`.
struct HealthRoutes: Sendable {
    let queue: UploadQueue
    let index: CaptureIndex
    let slots: Slots
    let metrics: Metrics
    let threads: BlockingThreads
    let health: Health

    func addRoutes(to router: Router<ReceiverContext>) {
        router.get("/healthz") { _, _ in
            let failing = await health.failing()
            let text = failing.isEmpty ? "ok\n" : "failing: \(failing.joined(separator: ", "))\n"
            return Response(
                status: failing.isEmpty ? .ok : .serviceUnavailable, headers: [.contentType: "text/plain"],
                body: .init(byteBuffer: ByteBuffer(string: text)))
        }
        router.get("/metrics") { _, _ in
            let text = try await threads.run {
                try metrics.text(slots: slots, status: queue.status(), captures: index.count())
            }
            return Response(
                status: .ok, headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
                body: .init(byteBuffer: ByteBuffer(string: text)))
        }
    }
}
