import CaptureQueue
import Hummingbird

/// `GET /healthz` and `GET /metrics`.
struct HealthRoutes: Sendable {
    let queue: UploadQueue
    let index: CaptureIndex
    let slots: Slots
    let metrics: Metrics
    let threads: BlockingThreads

    func addRoutes(to router: Router<ReceiverContext>) {
        router.get("/healthz") { _, _ in
            _ = try await threads.run { try index.count() }
            return "ok\n"
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
