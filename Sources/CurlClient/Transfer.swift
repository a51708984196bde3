import CaptureNative

/// One request under way: what libcurl calls back.
final class Transfer {
    private let body: (any RequestBody)?
    private let answerLimit: Int
    private let sink: ((Span<UInt8>) -> Bool)?
    private let sockets: SessionSockets
    private let isStopped: () -> Bool
    private let onProgress: (Int) -> Void
    private var watch: StandstillWatch
    private var sent = 0
    /// Bytes of the answer's head.
    private var headBytes = 0
    private(set) var headers: [(name: String, value: String)] = []
    private var status = 0
    private(set) var answer: [UInt8] = []
    private(set) var isOverLimit = false
    private(set) var isRefusedByBody = false
    /// Why we ended it for its time; nil otherwise.
    private(set) var givenUp: String?

    init(
        _ request: HTTPRequest, _ times: TransferTimes, _ sockets: SessionSockets,
        _ isStopped: @escaping () -> Bool, _ onProgress: @escaping (Int) -> Void
    ) {
        body = request.body
        answerLimit = request.answerLimit
        sink = request.sink
        self.sockets = sockets
        watch = StandstillWatch(times, waitsForAnswer: request.sink == nil, at: MonotonicClock.seconds)
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
        let start = MonotonicClock.seconds
        let isGood = body.lend(buffer.count) { piece in
            count = piece.count
            unsafe piece.withUnsafeBytes { unsafe buffer.copyMemory(from: $0) }
        }
        guard isGood else {
            isRefusedByBody = true
            return Self.abort
        }
        // A rate that was set, or a slow disk.
        watch.heldBack(seconds: MonotonicClock.seconds - start)
        sent += count
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
        watch.restart(at: MonotonicClock.seconds)
        return body?.rewind() ?? true
    }

    func take(_ piece: Span<UInt8>) -> Bool {
        if let sink, status == 200 { return sink(piece) }
        let room = answerLimit - answer.count
        answer.append(copying: piece.extracting(first: min(room, piece.count)))
        isOverLimit = piece.count > room
        return !isOverLimit
    }

    func takeHeader(_ line: String) {
        headBytes += line.utf8.count
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
    ///
    /// - Parameters:
    ///   - sent: bytes of the body that libcurl gave to the connection.
    ///   - received: bytes of the answer's body.
    func mustEnd(sent: Int, received: Int) -> Bool {
        if isStopped() { return true }
        let waiting = sockets.waiting
        givenUp = watch.verdict(
            moved: sent - waiting + headBytes + received,
            isDrained: isSent && sent >= body?.byteCount ?? 0 && waiting == 0, at: MonotonicClock.seconds)
        return givenUp != nil
    }
}
