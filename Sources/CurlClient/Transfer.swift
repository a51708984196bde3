import CaptureNative

/// The state of one running request, which libcurl's callbacks read and change.
final class Transfer {
    private let body: (any RequestBody)?
    private let sink: ((Span<UInt8>) -> Bool)?
    private let sockets: SessionSockets
    private let isStopped: () -> Bool
    private var watch: StandstillWatch
    /// When `watch` was asked, and after how many seconds it is asked again.
    private var checkedAt = 0.0
    private static let interval = 0.05
    /// The number of bytes of the answer's headers.
    private var headBytes = 0
    private(set) var headers: HTTPHeaders = []
    private var status = 0
    private(set) var answer: [UInt8] = []
    /// The number of bytes of the answer's body to keep; a longer body ends the transfer.
    private static let answerLimit = 1 << 20
    private var decoder: ContentDecoder?
    /// Whether the body of the answer was given up: it exceeds our limit, or its coding is damaged.
    private(set) var isBodyGivenUp = false
    /// The number of bytes of the request's body that were passed on.
    private(set) var handedOver = 0
    private(set) var isRefusedByBody = false
    /// The reason why the transfer ran out of time; nil if it did not.
    private(set) var givenUp: String?

    init(
        _ request: HTTPRequest, times: TransferTimes, sockets: SessionSockets,
        isStopped: @escaping () -> Bool
    ) {
        body = request.body
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
        let isGood = body.read(buffer.count) { piece in
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

    func receive(_ piece: Span<UInt8>) -> Bool {
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
        let room = Self.answerLimit - answer.count
        answer.append(copying: piece.extracting(first: min(room, piece.count)))
        isBodyGivenUp = piece.count > room
        return !isBodyGivenUp
    }

    /// Whether the coded body of the answer came to its end.
    var isDecoded: Bool { decoder?.isWhole ?? true }

    /// Whether nothing of an answer has arrived.
    var isUnanswered: Bool { headBytes == 0 }

    func receiveHeader(_ line: String) {
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
        guard now - checkedAt >= Self.interval else { return false }
        checkedAt = now
        let waiting = sockets.waiting
        givenUp = watch.verdict(
            moved: sent - waiting + headBytes + received,
            isDrained: isSent && sent >= body?.byteCount ?? 0 && waiting == 0, at: now)
        return givenUp != nil
    }
}

/// Parses an HTTP/1 answer from the raw bytes of a connection.
enum EarlyAnswer {
    /// - Returns: nil unless the bytes are an HTTP/1 answer with a status of 300 to 599, perhaps after interim answers.
    static func parse(_ bytes: [UInt8], wasSentWhole: Bool) -> HTTPAnswer? {
        var rest = bytes[...]
        while let (status, lines, after) = head(rest) {
            rest = after
            // A server can send many interim answers before the one that counts.
            if (100...199).contains(status) { continue }
            guard (300...599).contains(status) else { return nil }
            let headers = lines.compactMap { line in
                line.nameAndValue().map { (name: $0.name.lowercased(), value: $0.value) }
            }
            return HTTPAnswer(
                status: status, headers: headers, body: decoded(Array(rest), headers), isCut: false,
                wasSentWhole: wasSentWhole, redirect: nil)
        }
        return nil
    }

    /// The status and the header lines of an answer, and the bytes behind them.
    private static func head(_ bytes: ArraySlice<UInt8>) -> (status: Int, lines: [String], after: ArraySlice<UInt8>)? {
        let mark = Array("\r\n\r\n".utf8)
        guard bytes.starts(with: Array("HTTP/1.".utf8)),
            let end = bytes.indices.first(where: { bytes[$0...].starts(with: mark) })
        else { return nil }
        let lines = String(decoding: bytes[..<end], as: UTF8.self).pieces(by: "\n")
        guard let status = lines.first?.pieces(by: " ").dropFirst().first.flatMap({ Int($0.trimmed) }) else {
            return nil
        }
        return (status, Array(lines.dropFirst()), bytes[(end + mark.count)...])
    }

    /// The bytes of the body without its transfer coding and its content coding, as far as they arrived.
    private static func decoded(_ bytes: [UInt8], _ headers: HTTPHeaders) -> [UInt8] {
        let isChunked = headers.contains { $0.name == "transfer-encoding" && $0.value.lowercased().contains("chunked") }
        let body = isChunked ? unchunked(bytes) : bytes
        let coding = ContentCoding.of(headers.last { $0.name == "content-encoding" }?.value)
        guard let decoder = ContentDecoder(coding) else { return body }
        var plain: [UInt8] = []
        _ = decoder.decode(body.span) { piece in
            plain.append(copying: piece.extracting(first: min(piece.count, mostDecoded - plain.count)))
            return plain.count < mostDecoded
        }
        return plain
    }

    private static let mostDecoded = 1 << 16

    private static func unchunked(_ bytes: [UInt8]) -> [UInt8] {
        var rest = bytes[...]
        var body: [UInt8] = []
        while let end = rest.firstIndex(of: 0x0a),
            let size = String(decoding: rest[..<end], as: UTF8.self).pieces(by: ";").first
                .flatMap({ Int($0.trimmed, radix: 16) }), (1...bytes.count).contains(size)
        {
            body += rest[(end + 1)...].prefix(size)
            rest = rest[(end + 1)...].dropFirst(size + 2)
        }
        return body
    }
}

/// Decides when to give up a transfer (Spec/upload.md section 4.6). It has no clock: callers pass the time in seconds.
///
/// A transfer that makes progress is never given up, however long it takes. Until the request has left this machine,
/// the number of moved bytes counts; from then on, the time that the answer takes.
package struct StandstillWatch {
    /// The minimum number of bytes that must move in a minute.
    private static let least = 1000.0

    private let times: TransferTimes
    private let waitsForAnswer: Bool
    private var mark: (bytes: Int, at: Double)
    private var drainedAt: Double?

    /// - Parameter waitsForAnswer: False for a download, because it is itself the answer.
    package init(_ times: TransferTimes, waitsForAnswer: Bool = true, at now: Double) {
        self.times = times
        self.waitsForAnswer = waitsForAnswer
        mark = (0, now)
    }

    /// Starts again, because the request is sent again from its beginning.
    package mutating func restart(at now: Double) {
        mark = (0, now)
        drainedAt = nil
    }

    /// Excludes time in which this side held bytes back, because it says nothing about the connection.
    package mutating func heldBack(seconds: Double) { mark.at += seconds }

    /// - Parameters:
    ///   - moved: The number of bytes that the other side has received or sent.
    ///   - isDrained: Whether the other side has received the whole request.
    /// - Returns: The reason to give up the transfer; nil while it may continue.
    package mutating func verdict(moved: Int, isDrained: Bool, at now: Double) -> String? {
        if isDrained, drainedAt == nil, waitsForAnswer { drainedAt = now }
        if let drainedAt {
            return now - drainedAt > times.answer
                ? "no complete answer within \(Int(times.answer)) s (answer-timeout)" : nil
        }
        // `moved` can decrease, because the unsent bytes in the socket include TLS records and headers, which `sent`
        // leaves out.
        mark.bytes = min(mark.bytes, moved)
        let least = max(1, Int(Self.least * times.stall / 60))
        if moved - mark.bytes >= least { mark = (moved, now) }
        return now - mark.at > times.stall
            ? "fewer than \(least) bytes moved in \(Int(times.stall)) s (stall-timeout)" : nil
    }
}
