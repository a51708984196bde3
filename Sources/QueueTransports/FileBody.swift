import CaptureBundle
import CaptureNative
import CurlClient
import QueueModel

/// A file, or an upload body that is made of one, compared while it is sent. The last bytes are held back until the whole file
/// was found to be the expected one, so that other bytes never arrive whole.
final class FileBody: RequestBody {
    private static let heldBack = 16_384

    let byteCount: Int
    private let handle: FileHandle
    private let pieces: [BodyLayout.Piece]
    private let fileBytes: Int
    /// Of the file.
    private let expected: ExpectedBytes
    private let boundary: [UInt8]?
    /// What stands in the file by those who made the pieces.
    private let known: [(offset: Int, bytes: [UInt8])]
    private let control: SendControl
    private var comparison: ExpectedBytesCheck?
    private var scanner = BoundaryScanner()
    private var buffer: [UInt8] = []
    /// How many bytes of the body were lent.
    private var position = 0
    /// The piece that is next, how far it is, and how far the file is.
    private var place = (piece: 0, done: 0, file: 0)
    private var tail: [UInt8]?
    private(set) var isSent = false
    /// The boundary of the body stands in what was to be sent.
    private(set) var isSpoilt = false
    /// Why the transfer was given up; nil while all is well.
    private(set) var fault: SendOutcome?

    /// The file itself.
    init(_ handle: FileHandle, byteCount: Int, _ expected: ExpectedBytes, _ control: SendControl) {
        self.handle = handle
        self.byteCount = byteCount
        pieces = [.copied(offset: 0, count: byteCount)]
        fileBytes = byteCount
        self.expected = expected
        boundary = nil
        known = []
        self.control = control
    }

    /// - Parameters:
    ///   - layout: of the body that is made of the bundle.
    ///   - bundle: its length, and what its bytes have to be.
    init(
        _ handle: FileHandle, _ layout: BodyLayout, of bundle: (byteCount: Int, expected: ExpectedBytes),
        _ control: SendControl
    ) {
        self.handle = handle
        byteCount = layout.byteCount
        pieces = layout.pieces
        fileBytes = bundle.byteCount
        expected = bundle.expected
        boundary = layout.boundary
        known = layout.known
        self.control = control
    }

    func rewind() -> Bool {
        (position, place, tail) = (0, (0, 0, 0), nil)
        (isSent, isSpoilt, scanner) = (false, false, BoundaryScanner())
        control.began(bytes: byteCount)
        do throws(NativeError) {
            comparison = try ExpectedBytesCheck(expected)
            try handle.seekToStart()
            return true
        } catch {
            return fail(error)
        }
    }

    func lend(_ limit: Int, to taker: (Span<UInt8>) -> Void) -> Bool {
        if comparison == nil, !rewind() { return false }
        // Slow destinations get small pieces, so that the pace is even.
        let limit = min(limit, 1 << 18, control.evenPiece)
        let first = byteCount - Self.heldBack
        if position < first {
            let count = nextCount(min(limit, first - position))
            guard control.waitForTurn(count), produce(count, taker) != nil else { return false }
            position += count
        } else {
            guard control.waitForTurn(min(limit, byteCount - position)), let tail = tail ?? readTail() else {
                return false
            }
            let start = tail.count - (byteCount - position)
            let end = min(tail.count, start + limit)
            taker(tail.span.extracting(start..<end))
            position += end - start
            isSent = position == byteCount
        }
        control.sent(position)
        return true
    }

    /// How many bytes `produce` gives next.
    private func nextCount(_ limit: Int) -> Int {
        var left = place.done
        for piece in pieces[place.piece...] {
            if piece.count > left { return min(limit, piece.count - left) }
            left = 0
        }
        return 0
    }

    /// The next bytes of the body, at most `limit`.
    ///
    /// - Returns: how many; nil where there is a fault.
    private func produce(_ limit: Int, _ taker: (Span<UInt8>) -> Void) -> Int? {
        while place.piece < pieces.count {
            let piece = pieces[place.piece]
            let count = min(limit, piece.count - place.done)
            if count == 0 {
                place = (place.piece + 1, 0, place.file)
                scanner = BoundaryScanner()
                continue
            }
            switch piece {
            case .made(let bytes): taker(bytes.span.extracting(place.done..<(place.done + count)))
            case .copied(let offset, _):
                guard pass(to: offset + place.done), read(count, taker) else { return nil }
            }
            place.done += count
            return count
        }
        return 0
    }

    /// Reads over what is not sent: headers and padding.
    private func pass(to offset: Int) -> Bool {
        while place.file < offset {
            guard read(min(offset - place.file, 1 << 18), isSent: false, { _ in }) else { return false }
        }
        return true
    }

    private func read(_ count: Int, isSent: Bool = true, _ taker: (Span<UInt8>) -> Void) -> Bool {
        do throws(NativeError) {
            if buffer.count != count { buffer = [UInt8](repeating: 0, count: count) }
            guard try handle.read(into: &buffer) == count else { return refuse() }
            let bytes = buffer
            try comparison?.update(bytes.span)
            guard isKnown(bytes.span) else { return refuse() }
            place.file += count
            if isSent, finds(boundary, in: bytes.span) {
                isSpoilt = true
                return false
            }
            taker(bytes.span)
            return true
        } catch {
            return fail(error)
        }
    }

    /// Whether what was read here before is what is read now.
    private func isKnown(_ bytes: Span<UInt8>) -> Bool {
        known.allSatisfy { part in
            let start = max(part.offset, place.file)
            let end = min(part.offset + part.bytes.count, place.file + bytes.count)
            return start >= end
                || (start..<end).allSatisfy { part.bytes[$0 - part.offset] == bytes[$0 - place.file] }
        }
    }

    private func finds(_ boundary: [UInt8]?, in bytes: Span<UInt8>) -> Bool {
        guard let boundary else { return false }
        var isFound = false
        try? scanner.scan(bytes) { match in isFound = isFound || match == boundary }
        return isFound
    }

    /// The last bytes of the body, once all of the file was read and is what it has to be.
    private func readTail() -> [UInt8]? {
        var bytes: [UInt8] = []
        while bytes.count < byteCount - position {
            let count = produce(byteCount - position - bytes.count) { bytes.append(copying: $0) }
            guard let count, count > 0 else { return nil }
        }
        guard pass(to: fileBytes) else { return nil }
        do throws(NativeError) {
            // A file that has grown is another one.
            var more: [UInt8] = [0]
            let isWhole = try handle.read(into: &more) == 0
            guard isWhole, let comparison, try comparison.agrees() else {
                _ = refuse()
                return nil
            }
            tail = bytes
            return bytes
        } catch {
            _ = fail(error)
            return nil
        }
    }

    /// The SHA-256 of the body, made without haste: nothing is sent, so no rate holds it up. It is at its start again then.
    ///
    /// - Returns: nil where there is a fault.
    func digest(isStopped: () -> Bool) -> Digest? {
        guard rewind(), let body = try? SHA256Hasher() else { return nil }
        var left = byteCount
        while left > 0, !isStopped() {
            var isHashed = false
            let count = produce(min(left, 1 << 18)) { isHashed = (try? body.update($0)) != nil }
            guard let count, isHashed else { return nil }
            left -= count
        }
        guard left == 0, pass(to: fileBytes), let bytes = try? body.finish(), let comparison,
            let agrees = try? comparison.agrees(), agrees || refuse(), rewind()
        else { return nil }
        return Digest(bytes: bytes)
    }

    private func refuse() -> Bool {
        fault = .damaged(message: "the bytes changed since they were pushed")
        return false
    }

    private func fail(_ error: NativeError) -> Bool {
        fault = .failed(code: "spool.io", message: "the bytes cannot be read: \(error.text)")
        return false
    }
}
