import CaptureNative

/// The state of one running request, which libcurl's callbacks read and change.
final class Transfer {
    private let body: (any RequestBody)?
    private let answerLimit: Int
    private let sink: ((Span<UInt8>) -> Bool)?
    private let sockets: SessionSockets
    private let isStopped: () -> Bool
    private var watch: StandstillWatch
    /// When `watch` was asked, and after how many seconds it is asked again.
    private var looked = 0.0
    private static let interval = 0.05
    /// The number of bytes of the answer's headers.
    private var headBytes = 0
    private(set) var headers: [(name: String, value: String)] = []
    private var status = 0
    private(set) var answer: [UInt8] = []
    private var decoder: ContentDecoder?
    /// Whether the body of the answer was given up: it exceeds our limit, or its coding is damaged.
    private(set) var isBodyGivenUp = false
    /// The number of bytes of the request's body that were passed on.
    private(set) var handedOver = 0
    private(set) var isRefusedByBody = false
    /// The reason why the transfer ran out of time; nil if it did not.
    private(set) var givenUp: String?

    init(
        _ request: HTTPRequest, _ times: TransferTimes, _ sockets: SessionSockets,
        _ isStopped: @escaping () -> Bool
    ) {
        body = request.body
        answerLimit = request.answerLimit
        sink = request.sink
        self.sockets = sockets
        watch = StandstillWatch(times, waitsForAnswer: request.sink == nil, at: MonotonicClock.seconds)
        self.isStopped = isStopped
    }

    static func of(_ context: UnsafeMutableRawPointer?) -> Transfer? {
        unsafe context.map { unsafe Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Whether the status of a final answer has arrived.
    var isAnswered: Bool { status >= 200 }

    /// Whether the whole body was passed on. A request without a body counts as sent.
    var isSent: Bool { body?.isSent ?? true }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        guard let body else { return 0 }
        if isStopped() { return Self.abort }
        var count = 0
        let start = MonotonicClock.seconds
        let isGood = body.lend(buffer.count) { piece in
            unsafe piece.withUnsafeBytes {
                unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[count...]).copyMemory(from: $0)
            }
            count += piece.count
        }
        guard isGood else {
            isRefusedByBody = true
            return Self.abort
        }
        // The time went into a rate limit or a slow disk.
        watch.heldBack(seconds: MonotonicClock.seconds - start)
        handedOver += count
        return count
    }

    private static let abort = 0x1000_0000

    /// Whether libcurl wanted to send a whole request again, because the reused connection had ended without an answer.
    /// Callers must find out whether the server received the first one.
    private(set) var wasRewindRefused = false

    func rewind() -> Bool {
        if let body, body.byteCount > 0, body.isSent {
            wasRewindRefused = true
            return false
        }
        watch.restart(at: MonotonicClock.seconds)
        return body?.rewind() ?? true
    }

    func take(_ piece: Span<UInt8>) -> Bool {
        guard let decoder else { return keep(piece) }
        var isWanted = true
        guard decoder.decode(piece, { (isWanted = keep($0), isWanted).1 }) else {
            if isWanted { isBodyGivenUp = true }
            return false
        }
        return true
    }

    /// Limits count the decoded bytes.
    private func keep(_ piece: Span<UInt8>) -> Bool {
        if let sink, status == 200 { return sink(piece) }
        let room = answerLimit - answer.count
        answer.append(copying: piece.extracting(first: min(room, piece.count)))
        isBodyGivenUp = piece.count > room
        return !isBodyGivenUp
    }

    /// Whether the coded body of the answer came to its end.
    var isDecoded: Bool { decoder?.isWhole ?? true }

    /// Whether nothing of an answer has arrived.
    var isUnanswered: Bool { headBytes == 0 }

    func takeHeader(_ line: String) {
        headBytes += line.utf8.count
        if line.hasPrefix("HTTP/") {
            // Another answer begins; the one before was an interim answer.
            (headers, decoder) = ([], nil)
            status = line.pieces(by: " ").dropFirst().first.flatMap { Int($0.trimmed) } ?? 0
            return
        }
        guard let (name, value) = line.nameAndValue() else { return }
        headers.append((name.lowercased(), value))
        if name.lowercased() == "content-encoding" { decoder = ContentDecoder(ContentCoding.of(value)) }
    }

    /// Whether the transfer must end because the user stopped it or its time is over.
    ///
    /// - Parameters:
    ///   - sent: The number of bytes of the body that libcurl wrote to the connection.
    ///   - received: The number of bytes of the answer's body.
    func mustEnd(sent: Int, received: Int) -> Bool {
        if isStopped() { return true }
        let now = MonotonicClock.seconds
        // libcurl asks several times for each piece. The times are whole seconds.
        guard now - looked >= Self.interval else { return false }
        looked = now
        let waiting = sockets.waiting
        givenUp = watch.verdict(
            moved: sent - waiting + headBytes + received,
            isDrained: isSent && sent >= body?.byteCount ?? 0 && waiting == 0, at: now)
        return givenUp != nil
    }
}
