import CaptureBundle
import CaptureQueue
import CaptureTestSupport
import Foundation
import QueueModel
import Synchronization
import SystemPackage
import Testing

/// The `async` calls do what the synchronous calls do, and stop when their task is cancelled.
struct AsyncCallsTests {
    private let queues: QueueRoom
    private var room: BundleRoom { queues.room }
    private var queue: UploadQueue { queues.queue }

    init() throws { queues = try QueueRoom() }

    @Test func pushesSendsAndPrunes() async throws {
        let pushed = try await queue.push(room.bundle("a"))
        #expect(pushed.outcome == .stored)
        let result = try await queue.run()
        #expect(result.completed == 1)
        let pruned = try await queue.upkeep.prune(.atOnce)
        #expect(pruned.captures == 1)
    }

    @Test func givesTheEventsOfARunInTheirOrder() async throws {
        var ids: Set<String> = []
        for name in ["a", "b", "c"] { ids.insert(try await queue.push(room.bundle(name)).id) }
        let told = Mutex<[QueueEvent]>([])
        try await queue.run { event in told.withLock { $0.append(event) } }
        let events = told.withLock(\.self)
        #expect(events.first?.name == .started && events.last?.name == .ended)
        #expect(Set(events.filter { $0.name == .completed }.compactMap(\.id)) == ids)
    }

    @Test(.timeLimit(.minutes(2)))
    func aCancelledTaskStopsARunThatWouldGoOn() async throws {
        try await queue.push(room.bundle("a"))
        var options = RunOptions()
        options.mode = .watch
        let (completed, isCompleted) = AsyncStream.makeStream(of: Void.self)
        let (queue, watching) = (queue, options)
        let run = Task { try await queue.run(watching) { if $0.name == .completed { isCompleted.yield() } } }
        for await _ in completed { break }
        run.cancel()
        // The run releases its lock as soon as it notices the cancellation.
        var tries = 0
        while true {
            do {
                try await queue.run()
                break
            } catch let error as QueueError where error.code == .busy {
                tries += 1
                try #require(tries < 600)
                try await Task.sleep(for: .milliseconds(100))
            }
        }
    }

    @Test func aTaskThatIsCancelledAlreadyBeginsNothing() async throws {
        let bundle = try room.bundle("a")
        let task = Task {
            unsafe withUnsafeCurrentTask { task in unsafe task?.cancel() }
            return try await queue.push(bundle)
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try queue.status().waiting == 0)
    }

    @Test func aCancelledPruneEndsBetweenTwoCaptures() async throws {
        for name in ["a", "b", "c"] { try await queue.push(room.bundle(name)) }
        try await queue.run()
        let (seen, saw) = AsyncStream.makeStream(of: Void.self)
        let (leave, left) = (DispatchSemaphore(value: 0), queue)
        let task = Task {
            try await left.upkeep.prune(.atOnce) { _, _ in
                saw.yield()
                leave.wait()
            }
        }
        for await _ in seen { break }
        task.cancel()
        for _ in 0..<3 { leave.signal() }
        await #expect(throws: CancellationError.self) { try await task.value }
        // The next call finishes the work of the cancelled one: nothing is lost and nothing is counted twice.
        try await queue.upkeep.prune(.atOnce)
        #expect(try queue.status().usedBytes == 0)
    }
}
