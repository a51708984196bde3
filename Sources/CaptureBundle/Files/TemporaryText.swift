import CaptureNative

/// A temporary file without a name. Pieces are appended to it and read again later.
package final class TemporaryText {
    private let handle: FileHandle
    private var waiting: [UInt8] = []
    private var written = 0
    /// Whether the file position is after the last byte.
    private var isAtEnd = true
    private static let enough = 1 << 18

    /// - Throws: `output.unusable`.
    package init() throws(BundleError) { handle = try OutputTarget.temporary() }

    /// Appends a piece.
    ///
    /// - Returns: The offset at which the piece begins.
    /// - Throws: `io.failed`.
    package func append(_ bytes: some Sequence<UInt8>) throws(BundleError) -> Int {
        let place = written + waiting.count
        waiting += bytes
        if waiting.count >= Self.enough { try flush() }
        return place
    }

    /// Reads `count` bytes at an offset.
    ///
    /// - Throws: `io.failed`.
    package func read(_ count: Int, at place: Int) throws(BundleError) -> [UInt8] {
        try flush()
        var bytes = [UInt8](repeating: 0, count: count)
        let length: Int
        do throws(NativeError) {
            try handle.seek(to: place)
            isAtEnd = false
            length = try handle.read(into: &bytes)
        } catch {
            throw OutputTarget.temporaryFailure(error)
        }
        guard length == count else {
            throw BundleError(.inputOutput, "a temporary file in this folder was cut off", file: TemporaryFile.folder)
        }
        return bytes
    }

    private func flush() throws(BundleError) {
        guard !waiting.isEmpty else { return }
        do throws(NativeError) {
            if !isAtEnd { try handle.seek(to: written) }
            try handle.write(waiting)
        } catch {
            throw OutputTarget.temporaryFailure(error)
        }
        isAtEnd = true
        written += waiting.count
        waiting.removeAll(keepingCapacity: true)
    }
}
