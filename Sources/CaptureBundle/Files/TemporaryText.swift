import CaptureNative

/// A temporary file without a name, which is made once it is needed. Pieces are appended to it and read again later.
package final class TemporaryText {
    private var handle: FileHandle?
    private var waiting: [UInt8] = []
    private var written = 0
    private static let enough = 1 << 18

    package init() {}

    /// Appends a piece.
    ///
    /// - Returns: The offset at which the piece begins.
    /// - Throws: `output.unusable`, `io.failed`.
    package func append(_ bytes: some Sequence<UInt8>) throws(BundleError) -> Int {
        let place = written + waiting.count
        waiting += bytes
        if waiting.count >= Self.enough { _ = try flush() }
        return place
    }

    /// Reads `count` bytes at an offset.
    ///
    /// - Throws: `output.unusable`, `io.failed`.
    package func read(_ count: Int, at place: Int) throws(BundleError) -> [UInt8] {
        let handle = try flush()
        let bytes = try native(OutputTarget.temporaryFailure) { try handle.read(count, at: place) }
        guard bytes.count == count else {
            throw BundleError(.inputOutput, "a temporary file in this folder was cut off", file: TemporaryFile.folder)
        }
        return bytes
    }

    private func flush() throws(BundleError) -> FileHandle {
        let handle = if let open = self.handle { open } else { try OutputTarget.temporary() }
        self.handle = handle
        try native(OutputTarget.temporaryFailure) { try handle.write(waiting, at: written) }
        written += waiting.count
        waiting.removeAll(keepingCapacity: true)
        return handle
    }
}
