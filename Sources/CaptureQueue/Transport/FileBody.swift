import CaptureBundle
import CaptureNative
import CurlTransport

/// Bytes of a file, hashed while they are sent. The last ones are held back until the hash is right, so that other bytes
/// than those that are expected never arrive whole.
final class FileBody: RequestBody {
    private static let heldBack = 16_384

    let byteCount: Int
    private let handle: FileHandle
    private let expected: Digest
    private let control: SendControl
    private var hasher: SHA256Hasher?
    private var buffer: [UInt8] = []
    private var position = 0
    private var tail: [UInt8]?
    private(set) var isSent = false
    /// Why the transfer was given up; nil while all is well.
    private(set) var fault: SendOutcome?

    init(_ handle: FileHandle, byteCount: Int, sha256: Digest, _ control: SendControl) {
        self.handle = handle
        self.byteCount = byteCount
        expected = sha256
        self.control = control
    }

    func rewind() -> Bool {
        hasher = nil
        position = 0
        tail = nil
        isSent = false
        control.began(bytes: byteCount)
        do throws(NativeError) {
            hasher = try SHA256Hasher()
            try handle.seekToStart()
            return true
        } catch {
            return fail(error)
        }
    }

    func lend(_ limit: Int, to taker: (Span<UInt8>) -> Void) -> Bool {
        if hasher == nil, !rewind() { return false }
        // Slow destinations get small pieces, so that the pace is even.
        let limit = min(limit, 1 << 18)
        guard control.waitForTurn(min(limit, byteCount - position)) else { return false }
        let first = byteCount - Self.heldBack
        if position < first { return lendFromFile(min(limit, first - position), to: taker) }
        guard let tail = tail ?? readTail() else { return false }
        let start = tail.count - (byteCount - position)
        let piece = Array(tail[start..<min(tail.count, start + limit)])
        taker(piece.span)
        position += piece.count
        isSent = position == byteCount
        control.sent(position)
        return true
    }

    private func lendFromFile(_ count: Int, to taker: (Span<UInt8>) -> Void) -> Bool {
        do throws(NativeError) {
            if buffer.count < count { buffer = [UInt8](repeating: 0, count: count) }
            let read = try read(count)
            guard read == count else { return refuse() }
            let piece = buffer
            try hasher?.update(piece.span.extracting(first: count))
            taker(piece.span.extracting(first: count))
            position += count
            control.sent(position)
            return true
        } catch {
            return fail(error)
        }
    }

    private func read(_ count: Int) throws(NativeError) -> Int {
        if buffer.count == count { return try handle.read(into: &buffer) }
        var piece = [UInt8](repeating: 0, count: count)
        let read = try handle.read(into: &piece)
        buffer = piece
        return read
    }

    private func readTail() -> [UInt8]? {
        do throws(NativeError) {
            // One byte more than there may be: a file that has grown is another one.
            var bytes = [UInt8](repeating: 0, count: byteCount - position + 1)
            let count = try handle.read(into: &bytes)
            guard count == byteCount - position else {
                _ = refuse()
                return nil
            }
            bytes.removeLast()
            try hasher?.update(bytes.span)
            guard let hasher, Digest(bytes: try hasher.finish()) == expected else {
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

    private func refuse() -> Bool {
        fault = .damaged(message: "the bytes are not those that were pushed")
        return false
    }

    private func fail(_ error: NativeError) -> Bool {
        fault = .failed(code: "spool.io", message: "the bytes cannot be read: \(error.text)")
        return false
    }
}
