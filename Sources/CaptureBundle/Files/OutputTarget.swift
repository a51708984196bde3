package import CaptureNative
package import SystemPackage

/// A file that is being written. It is invisible before `commit`, unless it is passed on to standard output directly.
package final class OutputTarget {
    private enum Destination {
        case file(AtomicFile, AtomicFile.Existing)
        case passing
        /// The bytes wait in a file without a name and go to standard output at `commit`.
        case held
    }

    package let name: String
    /// The file to which the bytes are written.
    package let handle: FileHandle
    private let destination: Destination
    private var count = 0
    /// A thread that takes over writing once there are enough bytes to make it worthwhile.
    private var writer: WriteBehind?
    private static let aloneLimit = 1 << 22

    /// - Parameter holdsBack: Whether standard output, too, receives nothing before `commit`.
    package init(_ place: OutputPlace, holdsBack: Bool = false) throws(BundleError) {
        name = place.name
        if place == .standardOutput {
            // A command may do something that cannot be undone before it writes the first byte.
            try native({ .writing(place.name, $0) }) { try FileHandle.standardOutput.requireWritable() }
        }
        switch place {
        case .standardOutput:
            destination = holdsBack ? .held : .passing
            handle = holdsBack ? try Self.temporary() : .standardOutput
        case .file(let path), .replacing(let path):
            let file = try native({ .writing(path, $0) }) { try AtomicFile(path: path, mode: 0o666) }
            destination = .file(file, place == .file(path) ? .refuse : .replace)
            handle = file.handle
        }
    }

    /// Opens a place after it was examined.
    ///
    /// - Parameter inputs: The files that the command reads, and that must not be replaced.
    /// - Throws: `output.exists`, `output.unusable`.
    package convenience init(examining place: OutputPlace, reading inputs: [FilePath] = []) throws(BundleError) {
        for input in inputs { try OutputPlace.examine([place], reading: try? FileStatus.of(input)) }
        try OutputPlace.examine([place])
        try self.init(place)
    }

    /// - Parameter file: A file that exists already.
    init(_ file: AtomicFile, name: String, existing: AtomicFile.Existing) {
        self.name = name
        destination = .file(file, existing)
        handle = file.handle
    }

    package static func temporary() throws(BundleError) -> FileHandle {
        try native({ failure(.outputUnusable, "a temporary file cannot be made in this folder: \($0.text)") }) {
            try TemporaryFile.open()
        }
    }

    package static func temporaryFailure(_ error: NativeError) -> BundleError {
        failure(.inputOutput, "a temporary file in this folder cannot be written: \(error.text)")
    }

    private static func failure(_ code: BundleError.Code, _ message: String) -> BundleError {
        BundleError(code, message, file: TemporaryFile.folder, cause: .temporaryFolder)
    }

    package func write(_ bytes: Span<UInt8>) throws(BundleError) {
        do throws(NativeError) {
            if let writer { return try writer.write(bytes) }
            try handle.write(bytes)
        } catch {
            if case .held = destination { throw Self.temporaryFailure(error) }
            throw .writing(name, error)
        }
        count += bytes.count
        if case .file = destination, count > Self.aloneLimit { writer = WriteBehind(handle, from: count) }
    }

    package func write(_ bytes: [UInt8]) throws(BundleError) { try write(bytes.span) }

    /// Publishes the bytes: they are synced and get their name, or they go to standard output.
    package func commit() throws(BundleError) {
        try native({ .writing(name, $0) }) {
            try writer?.finish()
            switch destination {
            case .passing: return
            case .file(let file, let existing): try file.commit(existing)
            case .held: try copyToStandardOutput()
            }
        }
    }

    /// Publishes the bytes like `commit`, unless a file with the same bytes has the name already.
    func commitOnce() throws(BundleError) {
        do { try commit() } catch {
            guard error.code == .outputExists, try hasSameBytes(as: FilePath(name)) else { throw error }
        }
    }

    private func hasSameBytes(as path: FilePath) throws(BundleError) -> Bool {
        try native({ .reading(path, $0) }) {
            guard let other = try FileHandle.readingPlainFile(path) else { return false }
            try handle.seekToStart()
            var pieces = [[UInt8](repeating: 0, count: 1 << 18), [UInt8](repeating: 0, count: 1 << 18)]
            while true {
                let counts = (try handle.read(into: &pieces[0]), try other.read(into: &pieces[1]))
                guard counts.0 == counts.1, pieces[0] == pieces[1] else { return false }
                if counts.0 == 0 { return true }
            }
        }
    }

    /// The file of a target that was held back, positioned at its start. It has no name and disappears with its last
    /// owner.
    package func held() throws(BundleError) -> FileHandle {
        try native(Self.temporaryFailure) {
            try writer?.finish()
            try handle.seekToStart()
            return handle
        }
    }

    private func copyToStandardOutput() throws(NativeError) {
        try handle.seekToStart()
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        while case let count = try handle.readSome(into: &buffer), count > 0 {
            try FileHandle.standardOutput.write(buffer.span.extracting(first: count))
        }
    }
}

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
