import Hummingbird
import Synchronization

/// The body of a request, in the pieces in which it arrives. It ends with 413 if it has more bytes than allowed.
typealias BodyPieces = AsyncThrowingMapSequence<RequestBody, [UInt8]>

extension Request {
    /// Accepts the body, so that the client sends it, unless its announced length is above `limit`.
    func pieces(_ context: ReceiverContext, limit: Int, _ slot: Slots.Slot? = nil) async throws -> BodyPieces {
        try announcedLength(limit: limit)
        try await context.acceptBody()
        let count = Atomic(0)
        return body.map { piece in
            guard count.add(piece.readableBytes, ordering: .relaxed).newValue <= limit else {
                throw APIError.tooLarge("the body has more than \(limit) bytes")
            }
            slot?.received(piece.readableBytes)
            return Array(buffer: piece)
        }
    }

    /// The value of Content-Length; nil for a body in chunks. Above `limit`, it throws 413.
    @discardableResult
    func announcedLength(limit: Int) throws -> Int? {
        guard let text = headers[.contentLength] else { return nil }
        guard let length = Int(text) else { throw APIError.tooLarge("Content-Length is not a number of bytes") }
        guard length <= limit else {
            throw APIError.tooLarge("the body has \(length) bytes, at most \(limit) are allowed")
        }
        return length
    }
}
