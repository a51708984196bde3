import CaptureBundle
import CaptureNative
import QueueModel
import QueueTransports
import Synchronization

@testable import CaptureQueue

/// A destination whose answers a test chooses. With a clock that the test sets, weeks pass in milliseconds.
final class ScriptedDestination: UploadTransport {
    struct Sent: Hashable {
        let id: String
        let attempt: Int
        /// Milliseconds since the start of the test.
        let at: Int
    }

    private let manual: ManualClock
    private let start: Int
    /// Returns the result of each attempt.
    var answer: (CaptureRecord, DeliveryRecord) -> SendOutcome = { _, _ in .failed(code: "http.500", message: "no") }
    var isThere: () -> Bool = { true }
    private(set) var sent: [Sent] = []
    private(set) var connections = 0

    init(_ manual: ManualClock) {
        self.manual = manual
        start = manual.now
    }

    static let offline = Block(.offline, "nobody there")

    func reach(_ control: SendControl) -> Block? {
        connections += 1
        return isThere() ? nil : Self.offline
    }

    func send(_ job: SendJob, _ control: SendControl) -> SendOutcome {
        guard isThere() else { return .blocked(Self.offline) }
        sent.append(Sent(id: job.capture.id, attempt: job.delivery.attempts, at: manual.now - start))
        let outcome = answer(job.capture, job.delivery)
        guard case .completed = outcome else { return outcome }
        return .completed(receipt: job.receipt(.put, [:]), remoteID: nil, remoteURL: nil)
    }

    static let landed = SendOutcome.completed(receipt: "", remoteID: nil, remoteURL: nil)

    var finding = CopyFinding.beyondDoubt
    func inspect(_ job: SendJob, _ control: SendControl) -> CopyFinding { finding }

    func confirm(_ job: SendJob, _ control: SendControl) -> RemoteState { .there }
    func fetch(_ job: SendJob, into target: FileHandle, _ control: SendControl) -> String? { "no" }
    func test(_ control: SendControl) -> DestinationTest { DestinationTest() }
}

/// One worker of a run, which the test drives without threads.
final class SimulatedRun {
    let destination: ScriptedDestination
    let owner: RunOwner
    private let manual: ManualClock
    private let worker: DestinationWorker
    private let log = EventList()

    /// - Parameter transport: what sends in place of the scripted destination.
    init(
        _ queue: UploadQueue, _ name: String, _ manual: ManualClock, _ transport: (any UploadTransport)? = nil
    ) throws {
        self.manual = manual
        destination = ScriptedDestination(manual)
        let record = try queue.destinations.find(name)
        let log = log
        owner = RunOwner(clock: { manual.now }, onEvent: { log.add($0) })
        _ = owner.withTime { $0.adopted(record, at: $1) }
        let lane = owner.with { $0.laneStarts($0.poolStarts(record, concurrency: record.pace.concurrency), 0) }
        worker = DestinationWorker(
            queue, record, by: transport ?? destination, writer: ResultWriter(queue, owner, begun: nil), lane: lane,
            owner: owner)
    }

    var events: [QueueEvent] { log.all }

    /// Works until `milliseconds` have passed or the worker has nothing left to wait for.
    func pass(_ milliseconds: Int) throws {
        let end = manual.now + milliseconds
        while true {
            let next: Int?
            switch try worker.step() {
            case .worked: continue
            case .waiting(let until), .blocked(let until): next = until
            }
            guard let next, next < end else {
                manual.pass(max(0, end - manual.now))
                return
            }
            // A delivery that is due may still wait for something else, so look again after a moment.
            manual.pass(max(1, next - manual.now))
        }
    }
}

private final class EventList: Sendable {
    private let events = Mutex<[QueueEvent]>([])

    func add(_ event: QueueEvent) { events.withLock { $0.append(event) } }

    var all: [QueueEvent] { events.withLock(\.self) }
}
