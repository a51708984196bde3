import CaptureBundle
import CaptureQueue
import CaptureTestSupport
import Foundation
import QueueFiles
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

    private func receive(_ body: FilePath) async throws -> ReceivedBundle {
        try await receive(BodyPieces(body.bytes))
    }

    private func receive(
        _ pieces: BodyPieces, accept: @escaping @Sendable (Digest) throws -> Void = { _ in }
    ) async throws -> ReceivedBundle {
        try await queue.captures.receive(pieces, byteCount: nil, receiver, accept: accept)
    }

    @Test func keepsTheBytesThatWerePacked() async throws {
        let (one, two) = (try body("a"), try body("b"))
        let received = [try await receive(one.body), try await receive(two.body)]
        #expect(try received.map(\.bodySHA256) == [one, two].map { try Digest.of($0.body.bytes) })
        #expect(received.allSatisfy { $0.isSound && $0.report.verdict == .unknownDevice })
        #expect(try queue.status().waiting == 0)
        let pushed = try queue.captures.keep(received).map { try $0.get() }
        #expect(pushed.map(\.outcome) == [.stored, .stored])
        for (result, bundle) in zip(pushed, [one.bundle, two.bundle]) {
            #expect(try #require(try queue.captures.path(of: queue.captures.find(result.id))).bytes == bundle.bytes)
        }
        let again = try await queue.captures.keep([receive(one.body)]).map { try $0.get() }
        #expect(again.map(\.outcome) == [.heldAlready] && again.map(\.id) == [pushed[0].id])
        #expect(try await queue.push(two.bundle).outcome == .heldAlready)
    }

    /// The queue has whole bytes, but the copy at the destination is damaged: it is found when the body arrives again, or
    /// by `check --remote`. The damaged file is renamed.
    @Test func repairsADamagedCopyAtADestination() async throws {
        let one = try body("a")
        let id = try await #require(queue.captures.keep([receive(one.body)]).first).get().id
        _ = try await queue.run()
        let copy: FilePath = queues.room.path("disk/\(id).bundle")
        for (ending, arrives) in [(".damaged", true), (".damaged.2", false)] {
            try copy.damage()
            let damaged = try copy.bytes
            if arrives {
                #expect(try await queue.captures.keep([receive(one.body)])[0].get().outcome == .heldAlready)
            } else {
                _ = try queue.upkeep.checkRemote(isDryRun: false) { #expect($0.kind == .lost && $0.isRepaired) }
            }
            _ = try await queue.run()
            #expect(try queues.state(id) == .completed && copy.bytes == one.bundle.bytes)
            #expect(try (queues.room.path("disk/\(id).bundle\(ending)") as FilePath).bytes == damaged)
        }
    }

    @Test func keepsNothingOfADamagedBody() async throws {
        let path = try body("a").body
        try path.damage()
        let received = try await receive(path)
        #expect(!received.isSound && [.altered, .malformed].contains(received.report.verdict))
        let result = try #require(try queue.captures.keep([received]).first)
        #expect(throws: BundleError.self) { try result.get() }
        #expect(try queue.status().waiting == 0)
    }

    /// How many files are in the spool; `incoming/` is empty.
    private func spooled() throws -> Int {
        let folder = queue.folder.path
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.appending("incoming").string) == [])
        return try FileManager.default.subpathsOfDirectory(atPath: folder.appending("spool").string)
            .count { $0.hasSuffix(".bundle") }
    }

    @Test func keepsNothingOfABodyThatBreaksOff() async throws {
        let bytes = try body("a").body.bytes
        for count in [0, 1, 3000, bytes.count - 1, bytes.count] {
            await #expect(throws: BodyPieces.Broken.self) {
                try await receive(BodyPieces(Array(bytes.prefix(count)), of: 100, .broken)) { _ in
                    Issue.record("\(count) bytes are accepted")
                }
            }
        }
        #expect(try spooled() == 0)
    }

    @Test(.timeLimit(.minutes(1)))
    func aCancelledTaskEndsTheReceptionOfABodyThatStalls() async throws {
        let bytes = try body("a").body.bytes
        let task = Task { try await receive(BodyPieces(Array(bytes.dropLast(100)), .stalled)) }
        try await Task.sleep(for: .milliseconds(200))
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try spooled() == 0)
    }

    /// The hash of the whole body is refused: that counts, whatever is wrong with the bundle, and nothing is kept.
    @Test func keepsNothingOfABodyThatIsNotAccepted() async throws {
        struct Refused: Error {}
        let whole = try body("a").body.bytes
        for bytes in [whole, Array(whole.reversed()), Array(whole.dropLast()), whole + [0]] {
            let expected = try Digest.of(bytes)
            await #expect(throws: Refused.self) {
                try await receive(BodyPieces(bytes)) { sha256 in
                    #expect(sha256 == expected)
                    throw Refused()
                }
            }
        }
        #expect(try spooled() == 0)
    }

    /// A destination that signs gets the hash of the body that arrived, and it is the one of the body that is made.
    @Test func knowsTheHashOfTheBodyThatWillBeSent() async throws {
        var settings = HTTPSettings(url: URLTemplate("http://127.0.0.1:9"))
        settings.signer = .device(.init(id: Self.device))
        try queue.destinations.add("api", .http(settings))
        let (one, two) = (try body("a"), try body("b"))
        let received = try await queue.captures.receive(
            BodyPieces(one.body.bytes), byteCount: nil, receiver, destinations: ["api"]
        ) { _ in }
        let id = try queue.captures.keep([received])[0].get().id
        #expect(try queue.captures.find(id).body == BodyHash(sha256: Digest.of(one.body.bytes), candidate: 0))
        let pushed = try await queue.push(two.bundle, .with { $0.destinations = ["api"] })
        #expect(
            try queue.captures.find(pushed.id).body == BodyHash(sha256: Digest.of(two.body.bytes), candidate: 0))
    }

    private static let device = "3f2b8c1e-5d47-4b1a-9c0e-7a6f1d2e3b4c"
}
