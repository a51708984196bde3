import CaptureBundle
import CaptureQueue
import CaptureTestSupport
import QueueModel
import SystemPackage
import Testing

/// A server receives bodies, looks at the reports, and keeps what it accepts.
struct BodyIntakeTests {
    private let queues: QueueRoom
    private var queue: UploadQueue { queues.queue }
    private let receiver = BundleReceiver(trust: TrustFile())

    init() throws { queues = try QueueRoom() }

    private func body(_ name: String) throws -> (bundle: FilePath, body: FilePath) {
        let bundle = try queues.room.bundle(name)
        let body: FilePath = queues.room.path("\(name).body")
        _ = try MultipartBody.write(bundle: bundle, to: .file(body))
        return (bundle, body)
    }

    @Test func keepsTheBytesThatWerePacked() throws {
        let (one, two) = (try body("a"), try body("b"))
        let received = [try queue.captures.receive(one.body, receiver), try queue.captures.receive(two.body, receiver)]
        #expect(received.allSatisfy { $0.isSound && $0.report.verdict == .unknownDevice })
        #expect(try queue.status().waiting == 0)
        let pushed = try queue.captures.keep(received).map { try $0.get() }
        #expect(pushed.map(\.outcome) == [.stored, .stored])
        for (result, bundle) in zip(pushed, [one.bundle, two.bundle]) {
            #expect(try #require(try queue.captures.path(of: queue.captures.find(result.id))).bytes == bundle.bytes)
        }
        let again = try queue.captures.keep([queue.captures.receive(one.body, receiver)]).map { try $0.get() }
        #expect(again.map(\.outcome) == [.heldAlready] && again.map(\.id) == [pushed[0].id])
        #expect(try queue.push(two.bundle).outcome == .heldAlready)
    }

    /// The queue has whole bytes, but the copy at the destination is damaged: it is found when the body arrives again, or
    /// by `check --remote`. The damaged file is renamed.
    @Test func repairsADamagedCopyAtADestination() throws {
        let one = try body("a")
        let id = try #require(try queue.captures.keep([queue.captures.receive(one.body, receiver)]).first).get().id
        _ = try queue.run()
        let copy: FilePath = queues.room.path("disk/\(id).bundle")
        for (ending, arrives) in [(".damaged", true), (".damaged.2", false)] {
            try copy.damage()
            let damaged = try copy.bytes
            if arrives {
                #expect(
                    try queue.captures.keep([queue.captures.receive(one.body, receiver)])[0].get().outcome
                        == .heldAlready)
            } else {
                _ = try queue.upkeep.checkRemote(isDryRun: false) { #expect($0.kind == .lost && $0.isRepaired) }
            }
            _ = try queue.run()
            #expect(try queues.state(id) == .completed && copy.bytes == one.bundle.bytes)
            #expect(try (queues.room.path("disk/\(id).bundle\(ending)") as FilePath).bytes == damaged)
        }
    }

    @Test func keepsNothingOfADamagedBody() throws {
        let path = try body("a").body
        try path.damage()
        let received = try queue.captures.receive(path, receiver)
        #expect(!received.isSound && [.altered, .malformed].contains(received.report.verdict))
        let result = try #require(try queue.captures.keep([received]).first)
        #expect(throws: BundleError.self) { try result.get() }
        #expect(try queue.status().waiting == 0)
    }
}
