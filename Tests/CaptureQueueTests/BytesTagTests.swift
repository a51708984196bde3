import CaptureBundle
import CaptureNative
import CaptureQueue
import CaptureTestSupport
import Foundation
import QueueFiles
import QueueModel
import QueueTransports
import SystemPackage
import Testing

/// Push stores a tag of the bytes, so that sending does not have to compute a second SHA-256.
struct BytesTagTests {
    private let queues: QueueRoom
    private var queue: UploadQueue { queues.queue }

    init() throws { queues = try QueueRoom() }

    private func agrees(_ bytes: [UInt8], _ expected: ExpectedBytes) throws -> Bool {
        let comparison = try ExpectedBytesCheck(expected)
        try comparison.update(bytes.span)
        return try comparison.agrees()
    }

    @Test func isOfTheBytesInTheSpoolWithAKeyOfItsOwn() throws {
        let record = try queues.record("a")
        let tag = try #require(record.tag)
        #expect(record.expectedBytes == .tag(tag))
        let bytes = try queues.room.bundle("a", name: "a").bytes
        let stored = try queue.folder.bundlePath(record.sha256).bytes
        for (bytes, isSame) in [(stored, true), (stored.dropLast() + [1], false), (bytes, false)] {
            #expect(try agrees(bytes, .tag(tag)) == isSame)
            #expect(try agrees(bytes, .sha256(record.sha256)) == isSame)
        }
        #expect(try queues.record("b").tag?.key != tag.key)
    }

    /// Other programs can change a file of the user, so its SHA-256 is compared each time.
    @Test func isNotMadeOfAReference() throws {
        let record = try queues.record("a") { $0.isByReference = true }
        #expect(record.tag == nil)
        #expect(record.expectedBytes == .sha256(record.sha256))
    }

    @Test func isMadeAnewWithOtherBytes() throws {
        let first = try queues.record("a")
        try FileManager.default.removeItem(atPath: queue.folder.bundlePath(first.sha256))
        let twin = try queues.room.bundle("a", name: "twin")
        #expect(try queue.push(twin).outcome == .restored)
        let record = try queue.captures.find(first.id)
        #expect(record.sha256 != first.sha256)
        #expect(try agrees(twin.bytes, record.expectedBytes))
        #expect(record.tag != nil && record.tag != first.tag)
    }
}

/// The hash of the upload body, over which a request is signed.
struct BodyHashTests {
    @Test func isThatOfTheBodyThatIsSent() throws {
        let room = try BundleRoom()
        let path = try room.bundle("a")
        let bytes = try path.bytes
        _ = try MultipartBody.write(bundle: path, to: .file(room.path("body")))
        let handle = try CaptureNative.FileHandle.reading(path)
        let hash = BodyHash.of(handle, name: "a", byteCount: bytes.count, .sha256(try Digest.of(bytes)))
        #expect(hash?.sha256 == (try Digest.of(room.folder.bytes("body"))))
        #expect(hash?.form == "capture/1/0")
        let other = ExpectedBytes.sha256(try Digest.of([]))
        #expect(BodyHash.of(handle, name: "a", byteCount: bytes.count, other) == nil)
    }

    @Test func isKeptWithTheFormOfTheBody() throws {
        let digest = try Digest.of([])
        for candidate in [0, 15] {
            let hash = BodyHash(sha256: digest, candidate: candidate)
            #expect(BodyHash(sha256: digest, form: hash.form) == hash)
        }
        for form in ["", "capture/1", "capture/1/", "capture/1/x", "capture/1/-1", "capture/2/0", "other/1/0", "1/0"] {
            #expect(BodyHash(sha256: digest, form: form) == nil, "\(form)")
        }
    }
}
