import CaptureBundle
import Foundation
import Hummingbird
import SystemPackage

/// The body of a request in a file of `bodies/`. The file is removed with this object.
final class BodyFile: Sendable {
    let path: FilePath
    /// Pieces are written together, so that fewer calls go to another thread.
    private static let gatheredBytes = 128 * 1024
    private let file: FileDescriptor

    /// Creates an empty file.
    init(_ path: FilePath) throws {
        self.path = path
        file = try FileDescriptor.open(
            path, .readWrite, options: [.create, .exclusiveCreate, .closeOnExec], permissions: .ownerReadWrite)
    }

    deinit {
        try? file.close()
        try? FileManager.default.removeItem(atPath: path.string)
    }

    func append(_ bytes: [UInt8]) throws { try file.writeAll(bytes) }

    /// Checks that the body begins with the boundary that the request announced.
    ///
    /// - Throws: 400 if it does not.
    func check(_ boundary: [UInt8]) throws {
        let expected = Array("--".utf8) + boundary + Array("\r\n".utf8)
        let file = try Foundation.FileHandle(forReadingFrom: URL(filePath: path.string))
        guard try file.read(upToCount: expected.count).map({ $0.elementsEqual(expected) }) ?? false else {
            throw APIError.validation("the body does not begin with the boundary of Content-Type")
        }
    }

    /// Receives the body of a request.
    ///
    /// - Parameter limit: The maximum number of bytes.
    /// - Returns: The file, and the SHA-256 of its bytes.
    static func receive(
        _ request: Request, _ context: ReceiverContext, _ slot: Slots.Slot, limit: Int, at path: FilePath,
        _ threads: BlockingThreads
    ) async throws -> (file: BodyFile, sha256: Digest) {
        let body = try await threads.run { try BodyFile(path) }
        let hash = try DigestStream()
        var gathered: [UInt8] = []
        try await request.receiveBody(context, limit: limit) { piece in
            slot.received(piece.count)
            try hash.update(piece.span)
            gathered += piece
            if gathered.count >= gatheredBytes {
                let bytes = gathered
                gathered.removeAll()
                try await threads.run { try body.append(bytes) }
            }
        }
        slot.isWhole()
        let rest = gathered
        try await threads.run { try body.append(rest) }
        return (body, try hash.finish())
    }
}

extension Request {
    /// Passes the body to `take` in pieces.
    ///
    /// - Throws: 413 for a body of more than `limit` bytes; 400 for one that is cut short.
    func receiveBody(
        _ context: ReceiverContext, limit: Int, to take: ([UInt8]) async throws -> Void
    ) async throws {
        let announced = try announcedLength(limit: limit)
        try await context.acceptBody()
        var count = 0
        for try await piece in body {
            count += piece.readableBytes
            guard count <= limit else { throw APIError.tooLarge("the body has more than \(limit) bytes") }
            try await take(Array(buffer: piece))
        }
        guard announced.map({ $0 == count }) ?? true else {
            throw APIError.validation("the body ends after \(count) bytes")
        }
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
