import CaptureQueue
import Hummingbird
import QueueModel
import Synchronization

/// Counts requests, for `GET /metrics` in the text form of Prometheus.
final class Metrics: Sendable {
    private let requests = Mutex<[String: Int]>([:])

    func count(_ request: Request, _ response: Response) {
        let method = request.method.rawValue
        let name = ["GET", "HEAD", "POST"].contains(method) ? method : "other"
        requests.withLock { $0["method=\"\(name)\",status=\"\(response.status.code)\"", default: 0] += 1 }
    }

    func get(_ depot: Depot, _ slots: Slots, _ stamper: Stamper?) async throws -> Response {
        let bodies = await slots.takenCount
        let text = try await depot.threads.run { try self.text(depot, bodies: bodies, stamper?.waiting()) }
        return Response(
            status: .ok, headers: [.contentType: "text/plain; version=0.0.4; charset=utf-8"],
            body: .init(byteBuffer: ByteBuffer(string: text)))
    }

    private func text(_ depot: Depot, bodies: Int, _ unstamped: (count: Int, seconds: Int)?) throws -> String {
        let requests = requests.withLock { $0.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) } }
        var lines = head("receiver_http_requests_total", "counter", "Requests that were answered.")
        lines += requests.map { "receiver_http_requests_total{\($0.key)} \($0.value)" }
        let status = try depot.queue.status()
        let gauges: [(String, String, Int?)] = [
            ("receiver_bodies", "Bodies that are being received.", bodies),
            ("receiver_captures", "Captures in the index.", try depot.index.count()),
            ("receiver_queue_waiting", "Captures that wait to be sent on.", status.waiting),
            ("receiver_queue_failed", "Captures that cannot be sent on without the operator.", status.failedForGood),
            ("receiver_queue_used_bytes", "Bytes in the queue's spool.", status.usedBytes),
            ("receiver_disk_free_bytes", "Free bytes on the disk.", status.freeBytes),
            ("receiver_unstamped", "Captures that wait for a time stamp.", unstamped?.count),
            ("receiver_unstamped_seconds", "For how long the oldest of them has waited.", unstamped?.seconds),
        ]
        for case (let name, let help, let value?) in gauges {
            lines += head(name, "gauge", help) + ["\(name) \(value)"]
        }
        return lines.map { $0 + "\n" }.joined()
    }

    private func head(_ name: String, _ kind: String, _ help: String) -> [String] {
        ["# HELP \(name) \(help)", "# TYPE \(name) \(kind)"]
    }
}
