import CaptureQueue
import Hummingbird
import Logging
import QueueModel

/// `GET /healthz`: tries what a capture needs, at most once a minute. A concern does not fail it, because captures are
/// still kept.
actor Health {
    private typealias Found = (failing: [String], concerns: [String])

    private let depot: Depot
    private let stamper: Stamper?
    private var last: (at: ContinuousClock.Instant, found: Task<Found, Never>)?

    init(_ depot: Depot, _ stamper: Stamper?) {
        self.depot = depot
        self.stamper = stamper
    }

    func get() async -> Response {
        if last.map({ $0.at + .seconds(60) < .now }) ?? true { last = (.now, Task { await attempt() }) }
        let (failing, concerns) = await last?.found.value ?? ([], [])
        let text =
            (failing.isEmpty ? "ok\n" : "failing: \(failing.joined(separator: ", "))\n")
            + concerns.map { "concern: \($0)\n" }.joined()
        return Response(
            status: failing.isEmpty ? .ok : .serviceUnavailable, headers: [.contentType: "text/plain"],
            body: .init(byteBuffer: ByteBuffer(string: text)))
    }

    /// The names of the parts that fail, and what else the operator has to look at.
    private func attempt() async -> Found {
        let parts: [(name: String, attempt: @Sendable () throws -> Void)] = [
            ("queue", { [depot] in try depot.queue.captures.tryKeeping() }),
            ("index", { [depot] in try depot.index.tryWriting() }),
            ("devices", { [depot] in _ = try depot.devices.device("00000000-0000-0000-0000-000000000000") }),
        ]
        var failing: [String] = []
        for (name, attempt) in parts {
            do { try await depot.threads.run(attempt) } catch {
                depot.logger.error("a capture cannot be kept: \(name): \(error)")
                failing.append(name)
            }
        }
        // What cannot be read here fails above, or at the next try.
        let concerns = (try? await depot.threads.run { try self.concerns() }) ?? []
        for concern in concerns { depot.logger.warning("\(concern)") }
        return (failing, concerns)
    }

    private nonisolated func concerns() throws -> [String] {
        var found = try depot.queue.status().concerns().map { concern in
            let place = concern.destination.map { " at \($0)" } ?? ""
            return "queue: \(concern.code.rawValue): \(concern.count)\(place)"
        }
        if let waiting = try stamper?.waiting(), waiting.seconds > 3600 {
            found.append(
                "captures without a time stamp: \(waiting.count), the oldest for \(waiting.seconds / 60) minutes")
        }
        return found
    }
}
