package import CaptureBundle
package import CaptureNative
public import QueueModel
import Synchronization
package import SystemPackage

/// A way to send captures to a destination. Calls block; only one thread at a time uses a transport.
///
/// The contract: `send` may be called again for the same delivery after any outcome. It never makes the destination store
/// a second copy if the destination can detect that. It returns `completed` only with a receipt that names the
/// bundle's hash. It returns `blocked` and `parked` only if the delivery is neither proven nor refused. It
/// never throws: every failure is an outcome. It changes the queue only through the records of its job.
package protocol UploadTransport {
    /// A block that is known without a request, such as a folder that is not mounted. It is checked before each claim.
    var absence: Block? { get }
    /// Connects without a request. Returns nil if the destination can be reached.
    func reach(_ control: SendControl) -> Block?
    func send(_ job: SendJob, _ control: SendControl) -> SendOutcome
    /// Asks for the decision about a delivery that is `processing`.
    func poll(_ job: SendJob, _ control: SendControl) -> SendOutcome
    /// Checks whether the destination still has a capture for which it gave a receipt.
    func confirm(_ job: SendJob, _ control: SendControl) -> RemoteState
    /// Looks at a copy that may have been lost although there is a receipt for it, and makes it durable.
    func inspect(_ job: SendJob, _ control: SendControl) -> CopyFinding
    /// Writes the bundle into `target`, if the destination can return it.
    ///
    /// - Returns: the reason for a failure; nil if all bytes came and are those that were sent.
    func fetch(_ job: SendJob, into target: FileHandle, _ control: SendControl) -> String?
    /// Notifies the destination that a session has ended (Spec/queue.md section 9). Returns the status line of the answer.
    ///
    /// - Parameter key: the idempotency key. It stays the same for all attempts, so that a server can ignore repetitions.
    /// - Throws: what `SendOutcome.of` makes words of.
    func notify(_ session: String, key: String, body: [UInt8], _ control: SendControl) throws -> String
    /// Tests the destination without changing anything there.
    func test(_ control: SendControl) -> DestinationTest
}

/// The result of `confirm`.
package enum RemoteState: Hashable {
    case there
    case lost(String)
    case unknown(String)
}

extension SendOutcome {
    /// A failure on our side, described in words for people. It blocks the destination.
    static func ours(_ message: String, perhapsOfCapture: Bool = false) -> SendOutcome {
        var block = Block(.local, message)
        block.isPerhapsOfCapture = perhapsOfCapture
        return .blocked(block)
    }

    /// What an error of a try means. What failed on our side means nothing if the transfer was stopped.
    package static func of(_ error: any Error, _ control: SendControl? = nil) -> SendOutcome {
        let outcome = error as? SendOutcome ?? .ours((error as? BundleError)?.message ?? "\(error)")
        guard case .blocked(let block) = outcome, block.reason == .local, let cause = control?.stopped
        else { return outcome }
        return .parked(cause: cause, isInDoubt: false)
    }

    /// Runs a try; what it throws becomes its outcome.
    static func of(_ control: SendControl, _ attempt: () throws -> SendOutcome) -> SendOutcome {
        do { return try attempt() } catch { return of(error, control) }
    }

    /// Runs `body`; what it throws becomes a failure on our side that names the setting.
    static func ours<Value>(
        of setting: String, perhapsOfCapture: Bool = false, _ body: () throws -> Value
    ) throws -> Value {
        do { return try body() } catch {
            throw ours("\(setting): \(words(error))", perhapsOfCapture: perhapsOfCapture)
        }
    }

    /// What went wrong, in words for people.
    static func words(_ error: any Error) -> String { of(error).trouble ?? "" }

    /// What it means that the upload body cannot be made from a bundle.
    init(_ error: BundleError) {
        // The bundle was sound at push, so its bytes have changed. They are checked again before they are set aside.
        let isDamaged = error.verdict != nil || error.code == .entrySHA256
        self =
            isDamaged && ![.outputUnusable, .inputOutput].contains(error.code)
            ? .damaged(message: error.message) : .failed(code: error.code.rawValue, message: error.message)
    }
}

/// The result of `dest test`.
public struct DestinationTest: Hashable, Sendable {
    /// The reason why the destination cannot be used; nil if it can.
    public var block: Block?
    /// The findings, one sentence each.
    public var findings: [String] = []

    package init(block: Block? = nil) { self.block = block }
}

extension UploadTransport {
    package var absence: Block? { nil }

    package func reach(_ control: SendControl) -> Block? { absence }

    package func inspect(_ job: SendJob, _ control: SendControl) -> CopyFinding { .beyondDoubt }

    package func poll(_ job: SendJob, _ control: SendControl) -> SendOutcome {
        .unclear(code: "poll", message: "this kind of destination decides at once")
    }

    package func notify(_ session: String, key: String, body: [UInt8], _ control: SendControl) throws -> String {
        throw SendOutcome.ours("this kind of destination has no sessions")
    }
}

/// One try to send a capture.
package struct SendJob {
    package let capture: CaptureRecord
    package let delivery: DeliveryRecord
    /// 128 bits that identify this try: the number of the run, and 64 random bits.
    let token: [UInt8]
    /// The time when the job was made, in Unix milliseconds.
    let now: Int
    private let begun = MonotonicClock.seconds
    /// The bundle's file: in the spool, or the user's own file.
    private let file: FilePath
    /// The hash of the bytes in that file. It differs from the delivered capture's hash after a push of another copy.
    let held: Digest
    let records: any SendRecords
    /// The layout of the upload body, if it was computed ahead.
    let layout: BodyLayout?
    /// The code of the outage that the destination is in; nil if it is in none. During one, a request without a body
    /// is sent first.
    package var outage: String?

    /// - Parameter held: the hash of the bytes in the file; nil if they are the capture's bytes.
    package init(
        _ capture: CaptureRecord, _ delivery: DeliveryRecord, token: [UInt8], now: Int, file: FilePath,
        held: Digest? = nil, records: any SendRecords, layout: BodyLayout? = nil
    ) {
        self.capture = capture
        self.delivery = delivery
        self.token = token
        self.now = now
        self.file = file
        self.held = held ?? capture.sha256
        self.records = records
        self.layout = layout
    }

    /// Opens the bundle's file. The name is for messages.
    func open() throws -> (handle: FileHandle, name: String) {
        do throws(NativeError) {
            let handle =
                capture.holding == .reference
                ? try FileHandle.readingPlainFile(file) : try FileHandle.reading(file, followsLinks: false)
            if let handle { return (handle, file.string) }
        } catch  where !error.isMissing {
            throw SendOutcome.failed(code: "spool.io", message: "the bytes cannot be read: \(error.text)")
        } catch {}
        throw SendOutcome.damaged(message: "the stored file is missing")
    }

    var holdsWhatWasSent: Bool { held == capture.sha256 }

    /// Opens the bytes that were delivered; nil if they are no longer here.
    func openSent() -> FileHandle? {
        holdsWhatWasSent ? try? open().handle : nil
    }

    /// The number of delivered bytes; nil if it is unknown.
    var sentByteCount: Int? { holdsWhatWasSent ? capture.byteCount : delivery.receipt.flatMap(Receipt.byteCount) }

    /// Makes a receipt from the given members and those that every receipt has.
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

/// Connects a transfer with the run: it carries the progress, the rate limits and the request to stop.
package final class SendControl: Sendable {
    private struct State {
        var stop: String?
        var stopCode: String?
        var hasBegun = true
        var hasRepeated = false
        var sent = 0
        var whole = 0
    }

    private let state = Mutex(State())
    private let throttles: [Throttle]
    /// The number of network changes in this run.
    let network: Int

    package init(_ throttles: [Throttle] = [], network: Int = 0) {
        self.throttles = throttles
        self.network = network
    }

    /// Asks the transfer to end. One that moves bytes ends within a second.
    ///
    /// - Parameter code: what the attempt is stored with.
    package func stop(_ cause: String, code: String? = nil) {
        state.withLock { if $0.stop == nil { ($0.stop, $0.stopCode) = (cause, code) } }
    }

    /// Asks a transfer to end that only waits until it may begin.
    package func stopWaiting(_ cause: String) { state.withLock { if $0.stop == nil, !$0.hasBegun { $0.stop = cause } } }

    /// Runs `body`, which waits until the transfer may begin.
    func whileWaiting<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
        state.withLock { $0.hasBegun = false }
        defer { state.withLock { $0.hasBegun = true } }
        return try body()
    }

    /// The reason why the transfer must end; nil if it may continue.
    package var stopped: String? { state.withLock(\.stop) }

    package var stopCode: String? { state.withLock(\.stopCode) }

    /// Whether a request may be repeated because a kept connection had ended: once an attempt.
    func mayRepeat() -> Bool {
        state.withLock { state in
            let hasRepeated = exchange(&state.hasRepeated, with: true)
            return !hasRepeated && state.stop == nil
        }
    }

    /// - Returns: false as soon as the transfer must end.
    func wait(seconds: Double) -> Bool {
        MonotonicClock.wait(until: MonotonicClock.seconds + seconds) { stopped != nil } && stopped == nil
    }

    func began(bytes: Int) {
        state.withLock { ($0.whole, $0.sent) = (bytes, 0) }
    }

    func sent(_ bytes: Int) { state.withLock { $0.sent = bytes } }

    package var progress: (sent: Int, whole: Int) { state.withLock { ($0.sent, $0.whole) } }

    /// The largest piece that keeps the pauses of the rate limits to about a quarter of a second.
    var evenPiece: Int { throttles.map(\.evenPiece).min() ?? .max }

    /// Waits until this number of bytes may be sent; returns false if the transfer must end.
    func waitForTurn(_ bytes: Int) -> Bool {
        throttles.allSatisfy { $0.take(bytes) { stopped != nil } } && stopped == nil
    }
}

/// Limits the rate in bytes per second of all transfers that share it.
package final class Throttle: Sendable {
    private let bytesPerSecond: Double
    /// When the next byte may be sent, in seconds of the monotonic clock.
    private let free = Mutex(MonotonicClock.seconds)

    package init(bytesPerSecond: Int) { self.bytesPerSecond = Double(max(1, bytesPerSecond)) }

    var evenPiece: Int { max(256, Int(min(bytesPerSecond, 1e9)) / 4) }

    func take(_ bytes: Int, isStopped: () -> Bool) -> Bool {
        let start = free.withLock { free in
            let start = max(free, MonotonicClock.seconds)
            free = start + Double(bytes) / bytesPerSecond
            return start
        }
        return MonotonicClock.wait(until: start, isStopped: isStopped)
    }
}

extension MonotonicClock {
    /// Waits until a time in seconds; returns false if it was stopped before.
    fileprivate static func wait(until end: Double, isStopped: () -> Bool) -> Bool {
        while case let left = end - seconds, left > 0 {
            if isStopped() { return false }
            sleep(min(left, 0.1))
        }
        return true
    }
}
