import CaptureNative

/// A file on its way to its place: nobody sees it before `commit`, unless it passes to the standard output.
final class OutputTarget {
    private enum Destination {
        case file(AtomicFile, AtomicFile.Existing)
        case passing
        /// On its way to the standard output, in a file without a name.
        case held
    }

    let name: String
    /// Where the bytes go.
    let handle: FileHandle
    private let destination: Destination
    private var count = 0
    /// Takes over once there are enough bytes for a thread to be worth it.
    private var writer: WriteBehind?
    private static let aloneLimit = 1 << 22

    /// - Parameter holdsBack: whether the standard output, too, gets nothing before `commit`.
    init(_ place: OutputPlace, holdsBack: Bool = false) throws(BundleError) {
        name = place.name
        switch place {
        case .standardOutput where holdsBack:
            destination = .held
            handle = try Self.spool()
        case .standardOutput:
            destination = .passing
            handle = .standardOutput
        case .file(let path), .replacing(let path):
            do {
                let file = try AtomicFile(path: path, mode: 0o666)
                if case .file = place {
                    destination = .file(file, .refuse)
                } else {
                    destination = .file(file, .replace)
                }
                handle = file.handle
            } catch {
                throw .writing(path, error)
            }
        }
    }

    /// - Parameter file: a file that is made already.
    init(_ file: AtomicFile, name: String, existing: AtomicFile.Existing) {
        self.name = name
        destination = .file(file, existing)
        handle = file.handle
    }

    static func spool() throws(BundleError) -> FileHandle {
        do {
            return try SpoolFile.open()
        } catch {
            throw BundleError(
                .outputUnusable, "a temporary file cannot be made in it: \(error.text)", file: SpoolFile.folder,
                hints: [spoolHint])
        }
    }

    private static let spoolHint = "name another folder with TMPDIR"

    static func spoolFailure(_ error: NativeError) -> BundleError {
        BundleError(
            .inputOutput, "a temporary file in it cannot be written: \(error.text)", file: SpoolFile.folder,
            hints: [spoolHint])
    }

    func write(_ bytes: Span<UInt8>) throws(BundleError) {
        do throws(NativeError) {
            if let writer { return try writer.write(bytes) }
            try handle.write(bytes)
        } catch {
            if case .held = destination { throw Self.spoolFailure(error) }
            throw .writing(name, error)
        }
        count += bytes.count
        if case .file = destination, count > Self.aloneLimit { writer = WriteBehind(handle, from: count) }
    }

    func write(_ bytes: [UInt8]) throws(BundleError) { try write(bytes.span) }

    /// Releases the bytes: synced and under their name, or on the standard output.
    func commit() throws(BundleError) {
        do throws(NativeError) {
            try writer?.finish()
            switch destination {
            case .passing: return
            case .file(let file, let existing): try file.commit(existing)
            case .held: try copyToStandardOutput()
            }
        } catch {
            throw .writing(name, error)
        }
    }

    /// The file of a target that was held back, from its start. It has no name, and goes with its last owner.
    func held() throws(BundleError) -> FileHandle {
        do throws(NativeError) {
            try writer?.finish()
            try handle.seekToStart()
        } catch {
            throw Self.spoolFailure(error)
        }
        return handle
    }

    private func copyToStandardOutput() throws(NativeError) {
        try handle.seekToStart()
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        while true {
            let count = try handle.readSome(into: &buffer)
            if count == 0 { return }
            try FileHandle.standardOutput.write(buffer.span.extracting(first: count))
        }
    }
}
