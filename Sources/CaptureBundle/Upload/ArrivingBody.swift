import CaptureNative

/// An upload body that is read and hashed while it arrives.
package final class ArrivingBody {
    package let source: BundleSource
    private let hash: DigestStream

    private init(_ bytes: ByteHandover) throws(BundleError) {
        let hash = try DigestStream()
        self.hash = hash
        let stream = CopyingStream(bytes) { try hash.update($0) }
        source = BundleSource(stream: stream, name: "body")
    }

    /// Runs `body` on a thread of its own, which reads the pieces as they arrive.
    ///
    /// - Throws: As `ByteHandover.run`, but `io.failed` if no thread can be started.
    package static func read<Pieces: AsyncSequence & Sendable, Value: Sendable>(
        _ pieces: Pieces, _ body: @escaping @Sendable (ArrivingBody) throws -> Value
    ) async throws -> Value where Pieces.Element == [UInt8] {
        do {
            return try await ByteHandover.run(pieces) { bytes in try body(ArrivingBody(bytes)) }
        } catch let error as NativeError where error.call == Thread.startCall {
            throw BundleError(.inputOutput, "cannot start a thread: \(error.text)")
        }
    }

    /// Reads what is left, and returns the hash of the whole body.
    package func finish() throws(BundleError) -> Digest {
        try source.passRest()
        return try hash.finish()
    }
}

extension ByteHandover: ByteStream {
    package func fill(_ buffer: inout [UInt8]) throws(BundleError) -> Int {
        do { return try read(into: &buffer) } catch { throw BundleError(.inputUnreadable, "ends before it is whole") }
    }
}
