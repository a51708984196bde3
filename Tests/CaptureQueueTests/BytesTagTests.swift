import CaptureBundle
import CaptureNative
import CaptureQueue
import CaptureTestSupport
import Foundation
import SystemPackage
import Testing

/// Push stores a tag of the bytes, so that sending does not have to compute a second SHA-256.
struct BytesTagTests {
    private let room: BundleRoom
    private let queue: UploadQueue

    init() throws {
        room = try BundleRoom()
        queue = try UploadQueue(at: QueueFolder(path: room.path("queue")), createIfMissing: true)
    }

    private func agrees(_ bytes: [UInt8], _ expected: ExpectedBytes) throws -> Bool {
        let comparison = try ExpectedBytesCheck(expected)
        try comparison.update(bytes.span)
        return try comparison.agrees()
    }

    @Test func isOfTheBytesInTheSpool() throws {
        let path = try room.bundle("a")
        let record = try queue.capture(queue.push(path).id)
        let tag = try #require(record.tag)
        #expect(record.expectedBytes == .tag(tag))
        var bytes = try URL(filePath: path).bytes
        #expect(try agrees(bytes, .tag(tag)))
        bytes[bytes.count - 1] ^= 1
        #expect(try !agrees(bytes, .tag(tag)))
    }

    @Test func hasAKeyOfItsOwn() throws {
        let one = try queue.capture(queue.push(room.bundle("a")).id)
        let other = try queue.capture(queue.push(room.bundle("b")).id)
        #expect(one.tag?.key != other.tag?.key)
    }

    /// Other programs can change a file of the user, so its SHA-256 is compared each time.
    @Test func isNotMadeOfAReference() throws {
        var options = PushOptions()
        options.isByReference = true
        let record = try queue.capture(queue.push(room.bundle("a"), options).id)
        #expect(record.tag == nil)
        #expect(record.expectedBytes == .sha256(record.sha256))
    }

    @Test func isMadeAnewWithOtherBytes() throws {
        let first = try queue.capture(queue.push(room.bundle("a")).id)
        try FileManager.default.removeItem(atPath: queue.folder.bundlePath(first.sha256))
        let twin = try room.bundle("a", name: "twin")
        #expect(try queue.push(twin).outcome == .restored)
        let record = try queue.capture(first.id)
        #expect(record.sha256 != first.sha256)
        #expect(try agrees(URL(filePath: twin).bytes, record.expectedBytes))
        #expect(record.tag != nil && record.tag != first.tag)
    }

    @Test func comparesBySHA256WhereThereIsNoTag() throws {
        let bytes = Array("bytes".utf8)
        let expected = ExpectedBytes.sha256(try Digest.of(bytes))
        #expect(try agrees(bytes, expected))
        #expect(try !agrees(bytes + [0], expected))
    }
}

/// The hash of the upload body, over which a request is signed.
struct BodyHashTests {
    @Test func isThatOfTheBodyThatIsSent() throws {
        let room = try BundleRoom()
        let path = try room.bundle("a")
        let bytes = try URL(filePath: path).bytes
        _ = try MultipartBody.write(bundle: path, to: .file(room.path("body")))
        let handle = try CaptureNative.FileHandle.reading(path)
        let expected = ExpectedBytes.sha256(try Digest.of(bytes))
        let hash = BodyHash.of(handle, name: "a", byteCount: bytes.count, expected)
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
