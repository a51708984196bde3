import CaptureNative

/// One request under way: what libcurl calls back.
final class Transfer {
    private let body: (any RequestBody)?
    private let answerLimit: Int
    private let sink: ((Span<UInt8>) -> Bool)?
    private let times: TransferTimes
    private let isStopped: () -> Bool
    private let onProgress: (Int) -> Void
    private let started = MonotonicClock.seconds
    private var moved = MonotonicClock.seconds
    private var sentAt: Double?
    private var sent = 0
    private(set) var headers: [(name: String, value: String)] = []
    private var status = 0
    private(set) var answer: [UInt8] = []
    private(set) var isOverLimit = false
    private(set) var isRefusedByBody = false
    /// Why we ended it for its time; nil otherwise.
    private(set) var givenUp: String?

    init(
        _ request: HTTPRequest, _ times: TransferTimes, _ isStopped: @escaping () -> Bool,
        _ onProgress: @escaping (Int) -> Void
    ) {
        body = request.body
        answerLimit = request.answerLimit
        sink = request.sink
        self.times = times
        self.isStopped = isStopped
        self.onProgress = onProgress
    }

    static func of(_ context: UnsafeMutableRawPointer?) -> Transfer? {
        unsafe context.map { unsafe Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Whether an answer's head came.
    var isAnswered: Bool { status >= 200 }

    /// A request without a body is sent once it is under way.
    var isSent: Bool { body?.isSent ?? true }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        guard let body else { return 0 }
        if isStopped() { return Self.abort }
        var count = 0
        let isGood = body.lend(buffer.count) { piece in
            count = piece.count
            unsafe piece.withUnsafeBytes { unsafe buffer.copyMemory(from: $0) }
        }
        guard isGood else {
            isRefusedByBody = true
            return Self.abort
        }
        moved = MonotonicClock.seconds
        sent += count
        if body.isSent && sentAt == nil { sentAt = moved }
        onProgress(sent)
        return count
    }

    private static let abort = 0x1000_0000

    /// libcurl would send anew what was sent whole over a kept connection that then ended without an answer. Whether that
    /// landed is for others to find out.
    private(set) var wasRewindRefused = false

    func rewind() -> Bool {
        if let body, body.byteCount > 0, body.isSent {
            wasRewindRefused = true
            return false
        }
        sent = 0
        sentAt = nil
        return body?.rewind() ?? true
    }

    func take(_ piece: Span<UInt8>) -> Bool {
        moved = MonotonicClock.seconds
        if let sink, status == 200 { return sink(piece) }
        let room = answerLimit - answer.count
        answer.append(copying: piece.extracting(first: min(room, piece.count)))
        isOverLimit = piece.count > room
        return !isOverLimit
    }

    func takeHeader(_ line: String) {
        moved = MonotonicClock.seconds
        if line.hasPrefix("HTTP/") {
            // Another answer begins; what came before was an interim one.
            headers = []
            status = line.pieces(by: " ").dropFirst().first.flatMap { Int($0.trimmed) } ?? 0
            return
        }
        guard let (name, value) = line.nameAndValue() else { return }
        headers.append((name.lowercased(), value))
    }

    /// Whether the user or the time ends it.
    func mustEnd() -> Bool {
        if isStopped() { return true }
        let now = MonotonicClock.seconds
        let size = Double(body?.byteCount ?? 0)
        if now - moved > times.stall && sentAt == nil {
            givenUp = "no byte moved for \(Int(times.stall)) s"
        } else if let sentAt, now - sentAt > times.answer {
            givenUp = "no whole answer within \(Int(times.answer)) s"
        } else if now - started > times.whole + size / times.slowest {
            givenUp = "took longer than \(Int(times.whole + size / times.slowest)) s"
        }
        return givenUp != nil
    }
}
