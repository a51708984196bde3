package import CaptureNative

/// Where a bundle's bytes come from: they are only ever read forwards, once, whether it is a file or a pipe.
public final class BundleSource {
    private enum Origin {
        case file(FileHandle)
        case memory([UInt8])
    }

    /// As messages and reports name it.
    public let name: String
    private let origin: Origin
    private var buffer: [UInt8]
    private var start = 0
    private var end = 0
    /// Bytes handed out so far.
    private(set) var position = 0

    private init(_ origin: Origin, name: String) {
        self.origin = origin
        self.name = name
        switch origin {
        case .file: buffer = [UInt8](repeating: 0, count: 1 << 17)
        case .memory(let bytes):
            buffer = bytes
            end = bytes.count
        }
    }

    /// Opens a file, or the standard input for `-`.
    ///
    /// - Throws: `input.unreadable` when there is none, or it is a folder.
    public convenience init(path: String) throws(BundleError) {
        if path == "-" {
            self.init(handle: .standardInput, name: "-")
            return
        }
        do {
            self.init(handle: try FileHandle.reading(path), name: path)
        } catch {
            throw .reading(path, error)
        }
    }

    package convenience init(handle: FileHandle, name: String) { self.init(.file(handle), name: name) }

    /// Bytes in memory.
    public convenience init(bytes: [UInt8], name: String = "bundle") { self.init(.memory(bytes), name: name) }

    /// Makes the next bytes available; false at the end.
    private func fill() throws(BundleError) -> Bool {
        if start < end { return true }
        guard case .file(let handle) = origin else { return false }
        do {
            end = try handle.readSome(into: &buffer)
        } catch {
            throw .reading(name, error)
        }
        start = 0
        return end > 0
    }

    /// The next `count` bytes, or fewer where the source ends.
    func read(_ count: Int) throws(BundleError) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(min(count, 1 << 20))
        while bytes.count < count, try fill() {
            let taken = min(end - start, count - bytes.count)
            bytes += buffer[start..<(start + taken)]
            advance(taken)
        }
        return bytes
    }

    /// Lends the next bytes, at most `limit`, to `body`; returns how many, 0 at the end.
    func lend(_ limit: Int, to body: (Span<UInt8>) throws(BundleError) -> Void) throws(BundleError) -> Int {
        guard try fill() else { return 0 }
        let taken = min(end - start, limit)
        let lent = buffer
        try body(lent.span.extracting(start..<(start + taken)))
        advance(taken)
        return taken
    }

    var isAtEnd: Bool {
        get throws(BundleError) { try !fill() }
    }

    private func advance(_ count: Int) {
        start += count
        position += count
    }
}
