import CaptureBundle
import Foundation
import Hummingbird
import Synchronization
import SystemPackage

/// The body of a request in a file of `bodies/`. The file is removed with this object.
final class BodyFile: Sendable {
    private struct State {
        let file: FileDescriptor
        let hash: DigestStream
    }

    let path: FilePath
    /// Pieces are written together, so that fewer calls go to another thread.
    private static let gatheredBytes = 128 * 1024
    private let state: Mutex<State>

    /// Creates an empty file.
    init(_ path: FilePath) throws {
        self.path = path
        let file = try FileDescriptor.open(
            path, .readWrite, options: [.create, .exclusiveCreate, .closeOnExec], permissions: .ownerReadWrite)
        state = Mutex(State(file: file, hash: try DigestStream()))
    }

    deinit {
        state.withLock { try? $0.file.close() }
        try? FileManager.default.removeItem(atPath: path.string)
    }

    func append(_ bytes: [UInt8]) throws {
        try state.withLock { state in
            try state.file.writeAll(bytes)
            try state.hash.update(bytes.span)
        }
    }

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

    private func finish() throws -> Digest { try state.withLock { try $0.hash.finish() } }

    /// Receives the body of a request.
    ///
    /// - Parameter limit: The maximum number of bytes.
    /// - Returns: The file, and the SHA-256 of its bytes.
    /// - Throws: 413 for a body that is too large; 400 for one that is cut short.
    static func receive(
        _ request: Request, _ context: ReceiverContext, _ slot: Slots.Slot, limit: Int, at path: FilePath,
        _ threads: BlockingThreads
    ) async throws -> (file: BodyFile, sha256: Digest) {
        let announced = try announcedLength(request, limit: limit)
        let body = try await threads.run { try BodyFile(path) }
        try await context.acceptBody()
        var count = 0
        var gathered: [UInt8] = []
        for try await piece in request.body {
            count += piece.readableBytes
            slot.received(piece.readableBytes)
            guard count <= limit else { throw APIError.tooLarge("the body has more than \(limit) bytes") }
            gathered += Array(buffer: piece)
            if gathered.count >= gatheredBytes {
                let bytes = gathered
                gathered.removeAll()
                try await threads.run { try body.append(bytes) }
            }
        }
        slot.isWhole()
        let rest = gathered
        try await threads.run { try body.append(rest) }
        guard announced.map({ $0 == count }) ?? true else {
            throw APIError.validation("the body ends after \(count) bytes")
        }
        return (body, try await threads.run { try body.finish() })
    }

    /// The value of Content-Length; nil for a body in chunks.
    static func announcedLength(_ request: Request, limit: Int) throws -> Int? {
        guard let text = request.headers[.contentLength] else { return nil }
        guard let length = Int(text) else { throw APIError.tooLarge("Content-Length is not a number of bytes") }
        guard length <= limit else {
            throw APIError.tooLarge("the body has \(length) bytes, at most \(limit) are allowed")
        }
        return length
    }
}
