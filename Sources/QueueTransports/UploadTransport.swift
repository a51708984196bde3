package import CaptureBundle
package import CaptureNative
public import QueueModel
import Synchronization
package import SystemPackage

/// One way to a destination. Calls block; one transport is used by one thread at a time.
///
/// The contract: `send` may be called again for the same delivery after any outcome but `completed`, and never makes the
/// destination hold two of it where the destination can tell. It returns `completed` only with a receipt that names the
/// bundle's hash, `blocked` and `parked` only where the delivery is neither proven nor refused, and never throws: what
/// goes wrong is an outcome. It writes nothing to the queue.
package protocol UploadTransport: AnyObject {
    /// What can be known without asking anybody: the folder is not mounted. Looked at before anything is claimed.
    var absence: Block? { get }
    /// Connects, and asks for nothing. nil when somebody is there.
    func reach(_ control: SendControl) -> Block?
    func send(_ job: SendJob, _ control: SendControl) -> SendOutcome
    /// Asks what became of a delivery that is `processing`.
    func poll(_ job: SendJob, _ control: SendControl) -> SendOutcome
    /// Whether the destination still has what it gave a receipt for.
    func confirm(_ job: SendJob, _ control: SendControl) -> RemoteState
    /// Writes the bundle into `target`, from a destination that can give it back. The caller compares the hash.
    ///
    /// - Returns: why not; nil when all of it came.
    func fetch(_ job: SendJob, into target: FileHandle, _ control: SendControl) -> String?
    /// Tells of a session's end; the answer's status line, or what went wrong.
    func tell(_ marker: SessionMarker, _ control: SendControl) -> Result<String, SendTrouble>
    /// Asks what can be asked without changing anything.
    func test(_ control: SendControl) -> DestinationTest
}

/// What `confirm` found.
package enum RemoteState: Hashable {
    case there
    case lost(String)
    case unknown(String)
}

/// Something that did not work, for people.
package struct SendTrouble: Error, Hashable {
    package let message: String

    package init(message: String) { self.message = message }
}

/// What `dest test` found.
public struct DestinationTest: Hashable, Sendable {
    /// nil when it can be used.
    public var block: Block?
    /// What was found, a sentence each.
    public var findings: [String] = []

    package init(block: Block? = nil) { self.block = block }
}

extension UploadTransport {
    package var absence: Block? { nil }

    package func poll(_ job: SendJob, _ control: SendControl) -> SendOutcome {
        .unclear(code: "poll", message: "this kind of destination decides at once")
    }

    package func tell(_ marker: SessionMarker, _ control: SendControl) -> Result<String, SendTrouble> {
        .failure(SendTrouble(message: "this kind of destination has no sessions"))
    }
}

/// What is to be sent.
package struct SendJob {
    package let capture: CaptureRecord
    package let delivery: DeliveryRecord
    /// 128 bits that name this try.
    let token: [UInt8]
    /// Unix milliseconds.
    let now: Int
    private let begun = MonotonicClock.seconds
    /// The bundle's file: in the spool, or the user's own.
    private let file: FilePath
    /// The hash of the bytes in that file; after a push of another copy it is not that of the capture that was delivered.
    let held: Digest
    private let isAnother: @Sendable (_ remoteID: String, _ photo: Digest) -> Bool
    private let keepBody: @Sendable (BodyHash) -> Void

    /// - Parameters:
    ///   - file: where the bundle's bytes are.
    ///   - held: the hash of the bytes there; nil for that of the capture.
    ///   - isAnother: whether what a destination has under this id may be another capture with the same photo.
    ///   - keepBody: has the queue keep the hash of the upload body. Where that cannot be written, the next try makes it again.
    package init(
        _ capture: CaptureRecord, _ delivery: DeliveryRecord, token: [UInt8], now: Int, file: FilePath,
        held: Digest? = nil, isAnother: @escaping @Sendable (_ remoteID: String, _ photo: Digest) -> Bool,
        keepBody: @escaping @Sendable (BodyHash) -> Void = { _ in }
    ) {
        self.capture = capture
        self.delivery = delivery
        self.token = token
        self.now = now
        self.file = file
        self.held = held ?? capture.sha256
        self.isAnother = isAnother
        self.keepBody = keepBody
    }

    /// Whether what a destination has under this id may be another capture with the same photo.
    func mayBeAnother(_ remoteID: String, photo: Digest) -> Bool { isAnother(remoteID, photo) }

    /// Keeps the hash of the upload body for later tries.
    func keep(_ body: BodyHash) { keepBody(body) }

    /// The bundle's bytes, and as what messages name them.
    func open() -> Result<(handle: FileHandle, name: String), SourceTrouble> {
        do throws(NativeError) {
            let handle =
                capture.holding == .reference
                ? try FileHandle.readingPlainFile(file) : try FileHandle.reading(file, followsLinks: false)
            guard let handle else { return .failure(.gone) }
            return .success((handle, file.string))
        } catch  where error.isMissing {
            return .failure(.gone)
        } catch {
            return .failure(.unreadable(error.text))
        }
    }

    var holdsWhatWasSent: Bool { held == capture.sha256 }

    /// The bytes that were delivered, where they are still here.
    func openSent() -> FileHandle? {
        guard holdsWhatWasSent, case .success(let source) = open() else { return nil }
        return source.handle
    }

    /// How many bytes were delivered; nil where nothing tells.
    var sentByteCount: Int? { holdsWhatWasSent ? capture.byteCount : delivery.receipt.flatMap(Receipt.byteCount) }

    /// A receipt: what is told, and what every receipt has.
    package func receipt(_ kind: Destination.Kind, _ members: KeyValuePairs<String, JSONValue?>) -> String {
        var all: [JSONValue.Member] = members.compactMap { pair in pair.value.map { JSONValue.Member(pair.key, $0) } }
        all.append(JSONValue.Member("kind", .string(kind.rawValue)))
        all.append(JSONValue.Member("sha256", .string(capture.sha256.description)))
        all.append(JSONValue.Member("bytes", .integer(capture.byteCount)))
        if let time = CaptureTime(milliseconds: now + Int((MonotonicClock.seconds - begun) * 1000)) {
            all.append(JSONValue.Member("verified_at", .string(time.description)))
        }
        return String(decoding: CanonicalJSON.encode(.object(all)), as: UTF8.self)
    }
}

enum SourceTrouble: Error {
    case gone
    case unreadable(String)

    var outcome: SendOutcome {
        switch self {
        case .gone: .damaged(message: "the bytes are gone")
        case .unreadable(let text): .failed(code: "spool.io", message: "the bytes cannot be read: \(text)")
        }
    }
}

/// Between a transfer and those who watch it: how far it is, and whether it is to end.
package final class SendControl: Sendable {
    private struct State {
        var stop: String?
        var sent = 0
        var whole = 0
        var isSentWhole = false
    }

    private let state = Mutex(State())
    private let throttles: [Throttle]
    /// How often the network has changed in this run.
    let network: Int

    package init(_ throttles: [Throttle] = [], network: Int = 0) {
        self.throttles = throttles
        self.network = network
    }

    /// Ends what is under way within a second.
    package func stop(_ cause: String) { state.withLock { if $0.stop == nil { $0.stop = cause } } }

    /// Why it is to end; nil while it may go on.
    package var stopped: String? { state.withLock(\.stop) }

    /// - Returns: false as soon as it is to end.
    func wait(seconds: Double) -> Bool {
        let end = MonotonicClock.seconds + seconds
        while stopped == nil {
            let left = end - MonotonicClock.seconds
            if left <= 0 { return true }
            MonotonicClock.sleep(min(left, 0.1))
        }
        return false
    }

    func began(bytes: Int) {
        state.withLock {
            $0.whole = bytes
            $0.sent = 0
        }
    }

    func sent(_ bytes: Int) { state.withLock { $0.sent = bytes } }

    package var progress: (sent: Int, whole: Int) { state.withLock { ($0.sent, $0.whole) } }

    /// How many bytes may go at once without a silence after them that is longer than a quarter of a second or so.
    var evenPiece: Int { throttles.map(\.evenPiece).min() ?? .max }

    /// Waits until so many bytes may be sent; false when it is to end.
    func waitForTurn(_ bytes: Int) -> Bool {
        for throttle in throttles where !throttle.take(bytes, isStopped: { self.stopped != nil }) { return false }
        return stopped == nil
    }
}

/// Lets so many bytes a second pass, in all that share it.
package final class Throttle: Sendable {
    private let bytesPerSecond: Double
    /// When the next byte may go, in seconds of the monotonic clock.
    private let free = Mutex(MonotonicClock.seconds)

    package init(bytesPerSecond: Int) { self.bytesPerSecond = Double(max(1, bytesPerSecond)) }

    var evenPiece: Int { max(256, Int(min(bytesPerSecond, 1e9)) / 4) }

    func take(_ bytes: Int, isStopped: () -> Bool) -> Bool {
        let start = free.withLock { free in
            let start = max(free, MonotonicClock.seconds)
            free = start + Double(bytes) / bytesPerSecond
            return start
        }
        while true {
            let left = start - MonotonicClock.seconds
            if left <= 0 { return true }
            if isStopped() { return false }
            MonotonicClock.sleep(min(left, 0.1))
        }
    }
}
