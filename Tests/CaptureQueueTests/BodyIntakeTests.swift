import CaptureBundle
import CaptureQueue
import CaptureTestSupport
import Foundation
import SystemPackage
import Testing

/// A server receives bodies, looks at the reports, and keeps what it accepts.
struct BodyIntakeTests {
    private let room: BundleRoom
    private let queue: UploadQueue

    init() throws {
        room = try BundleRoom()
        queue = try UploadQueue(at: QueueFolder(path: room.path("queue")), createIfMissing: true)
    }

    private func body(_ name: String) throws -> (bundle: FilePath, body: FilePath) {
        let bundle = try room.bundle(name)
        let body = FilePath(room.path("\(name).body"))
        _ = try MultipartBody.write(bundle: bundle, to: .file(body))
        return (bundle, body)
    }

    @Test func keepsTheBytesThatWerePacked() throws {
        let receiver = BundleReceiver(trust: TrustFile())
        let (one, two) = (try body("a"), try body("b"))
        let received = [try queue.receive(one.body, receiver), try queue.receive(two.body, receiver)]
        #expect(received.allSatisfy { $0.isSound && $0.report.verdict == .unknownDevice })
        #expect(try queue.status().waiting == 0)
        let pushed = try queue.keep(received).map { try $0.get() }
        #expect(pushed.map(\.outcome) == [.stored, .stored])
        for (result, bundle) in zip(pushed, [one.bundle, two.bundle]) {
            let path = try #require(try queue.path(of: queue.capture(result.id)))
            #expect(try URL(filePath: path.string).bytes == URL(filePath: bundle.string).bytes)
        }
        let again = try queue.keep([queue.receive(one.body, receiver)]).map { try $0.get() }
        #expect(again.map(\.outcome) == [.heldAlready])
        #expect(again.map(\.id) == [pushed[0].id])
        #expect(try queue.push(two.bundle).outcome == .heldAlready)
    }

    @Test func keepsNothingOfADamagedBody() throws {
        let path = try body("a").body
        var bytes = try URL(filePath: path.string).bytes
        bytes[bytes.count - 200] ^= 1
        try Data(bytes).write(to: URL(filePath: path.string))
        let received = try queue.receive(path, BundleReceiver(trust: TrustFile()))
        #expect(!received.isSound)
        #expect(received.report.verdict == .altered || received.report.verdict == .malformed)
        let result = try #require(try queue.keep([received]).first)
        #expect(throws: BundleError.self) { try result.get() }
        #expect(try queue.status().waiting == 0)
    }
}
