import CaptureNative
import GRDB
import QueueModel
import QueueTransports
import Testing

@testable import CaptureQueue

/// Copies for which a receipt of release 1.0 speaks (Spec/queue.md section 8.1).
struct CopyInspectionTests {
    private let room: QueueRoom
    private let destination: ScriptedDestination

    init() throws {
        room = try QueueRoom()
        destination = ScriptedDestination(room.manual)
    }

    /// Pushes and sends bundles.
    private func send(_ marks: String...) throws {
        for mark in marks { _ = try room.push(mark) }
        let run = try SimulatedRun(room.queue, "disk", room.manual)
        run.destination.answer = { _, _ in ScriptedDestination.landed }
        try run.pass(1000)
    }

    private func doubtAll() throws {
        try room.queue.store.write { try $0.run("UPDATE deliveries SET copy = 'unseen'", []) }
    }

    private func unseen() throws -> Int? {
        try room.queue.store.read { try $0.integer("SELECT count(*) FROM deliveries WHERE copy = 'unseen'", []) }
    }

    private func inspection() throws -> CopyInspection {
        CopyInspection(room.queue, try room.queue.destinations.find("disk"), pause: 0)
    }

    /// The run may be told to end between the look at the queue and the first copy.
    @Test func stopsBeforeTheFirstCopy() throws {
        try send("one")
        try doubtAll()
        var copies = try inspection()
        let control = SendControl()
        control.stop("the run was stopped")
        _ = try copies.step(destination, control, now: room.manual.now)
        #expect(try unseen() == 1)
    }

    /// A run that lasts for months looks again, for example after the disk was mounted.
    @Test func looksAgainAtWhatCouldNotBeRead() throws {
        try send("one", "two")
        try doubtAll()
        var copies = try inspection()
        destination.finding = .unknown
        #expect(try copies.step(destination, SendControl(), now: room.manual.now))
        #expect(try !copies.step(destination, SendControl(), now: room.manual.now))
        destination.finding = .beyondDoubt
        #expect(try copies.step(destination, SendControl(), now: room.manual.now))
        #expect(try unseen() == 0)
    }

    /// What may be evicted is found behind many copies in doubt without a look at each.
    @Test func findsWhatCanBeDeletedBehindCopiesInDoubt() throws {
        try send("one", "two")
        try doubtAll()
        try send("three")
        let found = try room.queue.store.read { try Eviction(queue: room.queue).prunable(bytes: 1, looks: 1, $0) }
        #expect(found?.captures == 1)
    }
}
