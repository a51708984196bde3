import Hummingbird

/// The body of a request, in the pieces in which it arrives.
///
/// It ends with 413 if it has more than `limit` bytes, and with 400 if it is shorter than announced.
struct BodyPieces: AsyncSequence, Sendable {
    /// The value of Content-Length; nil for a body in chunks.
    let announced: Int?
    fileprivate let limit: Int
    fileprivate let body: RequestBody
    fileprivate let slot: Slots.Slot?

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(whole: self, pieces: body.makeAsyncIterator()) }

    struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let whole: BodyPieces
        fileprivate var pieces: RequestBody.AsyncIterator
        fileprivate var count = 0

        mutating func next() async throws -> [UInt8]? {
            guard let piece = try await pieces.next() else {
                guard whole.announced.map({ $0 == count }) ?? true else {
                    throw APIError.validation("the body ends after \(count) bytes")
                }
                whole.slot?.isWhole()
                return nil
            }
            count += piece.readableBytes
            guard count <= whole.limit else { throw APIError.tooLarge("the body has more than \(whole.limit) bytes") }
            whole.slot?.received(piece.readableBytes)
            return Array(buffer: piece)
        }
    }
}

extension Request {
    /// Accepts the body, so that the client sends it.
    ///
    /// - Throws: 413 for a Content-Length above `limit`.
    func pieces(_ context: ReceiverContext, limit: Int, _ slot: Slots.Slot? = nil) async throws -> BodyPieces {
        let announced = try announcedLength(limit: limit)
        try await context.acceptBody()
        return BodyPieces(announced: announced, limit: limit, body: body, slot: slot)
    }

    /// The value of Content-Length; nil for a body in chunks.
    ///
    /// - Throws: 413 if it is above `limit`.
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
