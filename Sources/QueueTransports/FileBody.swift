import CaptureBundle
package import CaptureNative
import CurlClient
package import QueueModel

/// A request body that is a file, or an upload body made from one. The bytes are compared while they are sent.
///
/// The last bytes are sent only after the whole file was compared, so that wrong bytes never arrive whole.
final class FileBody: RequestBody {
    private static let heldBack = 16_384
    private static let piece = 1 << 18

    let byteCount: Int
    private let handle: FileHandle
    private let pieces: [BodyLayout.Piece]
    private let fileBytes: Int
    private let expected: ExpectedBytes
    private let boundary: [UInt8]?
    /// The bytes of the file from which the layout was computed.
    private let known: [(offset: Int, bytes: [UInt8])]
    private let control: SendControl
    private var comparison: ExpectedBytesCheck?
    private var scanner: BoundaryScanner
    private var buffer: [UInt8] = []
    /// The number of body bytes that were handed out.
    private var position = 0
    /// The current piece, the position in it, and the position in the file.
    private var place = (piece: 0, done: 0, file: 0)
    private var tail: [UInt8]?
    private(set) var isSent = false
    /// Whether the boundary occurs in the bytes to be sent.
    private(set) var isSpoilt = false
    /// The reason why the transfer was given up; nil if there is none.
    private(set) var fault: SendOutcome?

    /// - Parameters:
    ///   - layout: the layout of an upload body that is made from a bundle.
    ///   - pieces: nil for the pieces of the layout, or else for the file itself.
    ///   - file: the size of the file, and how to check its bytes.
    ///   - isSearched: whether an earlier pass over the same bytes has shown that the boundary does not occur in them.
    init(
        _ handle: FileHandle, _ layout: BodyLayout? = nil, pieces: [BodyLayout.Piece]? = nil,
        of file: (byteCount: Int, expected: ExpectedBytes), isSearched: Bool = false, _ control: SendControl
    ) {
        self.handle = handle
        self.pieces = pieces ?? layout?.pieces ?? [.copied(offset: 0, count: file.byteCount)]
        byteCount = self.pieces.reduce(0) { $0 + $1.count }
        (fileBytes, expected) = file
        boundary = isSearched ? nil : layout?.boundary
        known = layout?.known ?? []
        scanner = Self.scanner(of: boundary)
        self.control = control
    }

    func rewind() -> Bool {
        (position, place, tail) = (0, (0, 0, 0), nil)
        (isSent, isSpoilt, scanner) = (false, false, Self.scanner(of: boundary))
        control.began(bytes: byteCount)
        return succeeds {
            comparison = try ExpectedBytesCheck(expected)
            try handle.seekToStart()
        }
    }

    func read(_ limit: Int, to taker: (Span<UInt8>) -> Void) -> Bool {
        if comparison == nil, !rewind() { return false }
        // With a rate limit the pieces are small, so that the flow is even.
        // So are the first ones, so that the server has something to do soon.
        let limit = min(limit, position == 0 ? Self.piece / 8 : Self.piece, control.evenPiece)
        let first = byteCount - Self.heldBack
        if position < first {
            let count = min(limit, first - position)
            guard control.waitForTurn(count), succeeds({ try produce(count, taker) }) else { return false }
            position += count
        } else {
            guard control.waitForTurn(min(limit, byteCount - position)),
                succeeds({ tail = try tail ?? readTail() }), let tail
            else { return false }
            let start = tail.count - (byteCount - position)
            let end = min(tail.count, start + limit)
            taker(tail.span.extracting(start..<end))
            position += end - start
            isSent = position == byteCount
        }
        control.sent(position)
        return true
    }

    /// Hands out the next `count` bytes of the body. Small pieces, such as the header of a part, are sent with what follows.
    private func produce(_ count: Int, _ taker: (Span<UInt8>) -> Void) throws {
        var left = count
        while left > 0 {
            let piece = pieces[place.piece]
            let count = min(left, piece.count - place.done)
            if count == 0 {
                place = (place.piece + 1, 0, place.file)
                scanner = Self.scanner(of: boundary)
                continue
            }
            switch piece {
            case .made(let bytes): taker(bytes.span.extracting(place.done..<(place.done + count)))
            case .copied(let offset, _):
                try pass(to: offset + place.done)
                try read(count, taker)
            }
            place.done += count
            left -= count
        }
    }

    /// Reads bytes that are not sent, such as headers and padding, because the comparison needs them.
    private func pass(to offset: Int) throws {
        while place.file < offset { try read(min(offset - place.file, Self.piece), isSent: false) { _ in } }
    }

    private func read(_ count: Int, isSent: Bool = true, _ taker: (Span<UInt8>) -> Void) throws {
        if buffer.count != count { buffer = [UInt8](repeating: 0, count: count) }
        guard try handle.read(into: &buffer) == count else { throw Self.changed }
        let bytes = buffer
        try comparison?.update(bytes.span)
        guard isKnown(bytes.span) else { throw Self.changed }
        place.file += count
        if isSent, boundary != nil {
            try? scanner.scan(bytes.span) { _ in isSpoilt = true }
            if isSpoilt { throw Spoilt() }
        }
        taker(bytes.span)
    }

    /// Whether the bytes agree with those from which the layout was computed.
    private func isKnown(_ bytes: Span<UInt8>) -> Bool {
        known.allSatisfy { part in
            let start = max(part.offset, place.file)
            let end = min(part.offset + part.bytes.count, place.file + bytes.count)
            return start >= end
                || (start..<end).allSatisfy { part.bytes[$0 - part.offset] == bytes[$0 - place.file] }
        }
    }

    private static func scanner(of boundary: [UInt8]?) -> BoundaryScanner {
        boundary.map { BoundaryScanner(of: $0) } ?? BoundaryScanner()
    }

    /// Returns the last bytes of the body, after the whole file was read and compared.
    private func readTail() throws -> [UInt8] {
        var bytes: [UInt8] = []
        try produce(byteCount - position) { bytes.append(copying: $0) }
        try pass(to: fileBytes)
        // A file that has grown does not have the expected bytes.
        var more: [UInt8] = [0]
        let isWhole = try handle.read(into: &more) == 0
        guard isWhole, let comparison, try comparison.agrees() else { throw Self.changed }
        return bytes
    }

    /// Computes the SHA-256 of the body without a rate limit, because nothing is sent, and returns to its start.
    ///
    /// - Returns: nil on a fault.
    func digest() -> Digest? {
        guard rewind(), let body = try? SHA256Hasher() else { return nil }
        var left = byteCount
        var isHashed = true
        while left > 0, control.stopped == nil {
            let count = min(left, Self.piece)
            let isRead = succeeds { try produce(count) { isHashed = isHashed && (try? body.update($0)) != nil } }
            guard isRead, isHashed else { return nil }
            left -= count
        }
        guard left == 0, succeeds({ try pass(to: fileBytes) }), let bytes = try? body.finish(), let comparison,
            let agrees = try? comparison.agrees(), succeeds({ if !agrees { throw Self.changed } }), rewind()
        else { return nil }
        return Digest(bytes: bytes)
    }

    private static let changed = SendOutcome.damaged(message: "the bytes changed since they were pushed")

    /// The boundary occurs in the bytes to be sent, which is not a fault.
    private struct Spoilt: Error {}

    /// Runs `body`; false if it throws. `fault` then says why, except after `Spoilt`.
    private func succeeds(_ body: () throws -> Void) -> Bool {
        do {
            try body()
            return true
        } catch let error as NativeError {
            fault = .failed(code: "spool.io", message: "the bytes cannot be read: \(error.text)")
        } catch {
            fault = error as? SendOutcome ?? fault
        }
        return false
    }
}

/// Computes what the bytes of a file are compared by.
private protocol BytesHasher {
    func update(_ bytes: Span<UInt8>) throws(NativeError)
    func finish() throws(NativeError) -> [UInt8]
}

extension SHA256Hasher: BytesHasher {}
extension Poly1305: BytesHasher {}

/// Checks whether the bytes of a file are the expected ones, while they are read.
package struct ExpectedBytesCheck {
    private let hasher: any BytesHasher
    private let result: [UInt8]

    package init(_ expected: ExpectedBytes) throws(NativeError) {
        switch expected {
        case .sha256(let digest): (hasher, result) = (try SHA256Hasher(), digest.bytes)
        case .tag(let tag): (hasher, result) = (try Poly1305(key: tag.key), tag.tag)
        }
    }

    package func update(_ bytes: Span<UInt8>) throws(NativeError) { try hasher.update(bytes) }

    /// Returns the result. It may be called once, after the last byte.
    package func agrees() throws(NativeError) -> Bool { try hasher.finish() == result }
}
