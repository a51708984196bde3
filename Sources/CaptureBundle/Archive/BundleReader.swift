package import CaptureNative

/// Reads a bundle in one pass and enforces every rule of the container (Spec/capture-bundle.md section 3).
///
/// Call `readHead`, then call `nextEntry` until it returns nil; after each entry, call `readData` once. An error with a
/// `container.` code is final: nothing after it can be trusted.
public final class BundleReader {
    /// The parts before the payload. Their contents are not checked yet.
    public struct Head: Sendable {
        /// The bytes of `manifest.json`.
        public let manifest: [UInt8]
        /// The bytes of `assertion.cbor`.
        public let assertion: [UInt8]
    }

    private let source: BundleSource
    private var remaining = 0
    private var padding = 0
    private var next = 0
    private var lastPath: String?
    private var seen: Set<[UInt8]> = []
    private var manifest: Manifest?
    /// The number of bytes of the magic, the manifest, the assertion and the end mark, with headers and padding.
    private var fixedBytes = BundleMagic.bytes.count + 2 * UstarHeader.blockLength
    /// The withholdable entries of the manifest that the bundle does not have.
    public private(set) var withheld: [ManifestEntry] = []
    /// The number of bytes of the bundle that were read so far.
    public var position: Int { source.position }

    public init(_ source: BundleSource) { self.source = source }

    /// Reads the magic, the manifest and the assertion.
    ///
    /// - Parameter onManifest: Receives the manifest's bytes as soon as they are read, even if the assertion is broken.
    public func readHead(onManifest: ([UInt8]) -> Void = { _ in }) throws(BundleError) -> Head {
        try readMagic()
        let manifest = try readFixed("manifest.json", limit: BundleLimits.manifestBytes)
        onManifest(manifest)
        return Head(
            manifest: manifest, assertion: try readFixed("assertion.cbor", limit: BundleLimits.assertionBytes))
    }

    /// Reads the header of the next payload entry; nil after the end of the archive and of the file.
    public func nextEntry(of manifest: Manifest) throws(BundleError) -> ManifestEntry? {
        self.manifest = manifest
        guard let header = try readHeader() else {
            try readEnd()
            try skip(manifest.entries[next...])
            return nil
        }
        let path = try payloadPath(header)
        guard let index = manifest.entries[next...].firstIndex(where: { $0.path == path }) else {
            throw BundleError(.containerUnlisted, "is not listed in the manifest", entry: header.name)
        }
        let entry = manifest.entries[index]
        guard header.size == entry.size else {
            throw BundleError(
                .containerSize, "has \(header.size) bytes, the manifest says \(entry.size)", entry: header.name)
        }
        try skip(manifest.entries[next..<index])
        next = index + 1
        begin(header)
        return entry
    }

    /// Passes the current entry's bytes to `body` in pieces and checks the padding after them.
    ///
    /// - Throws: A fault of the container, or the error that `body` throws; one of another type becomes `internal`.
    public func readData(_ body: (Span<UInt8>) throws -> Void) throws(BundleError) {
        while remaining > 0 {
            let count = try source.read(remaining, to: body)
            if count == 0 { throw truncated("inside \(place)") }
            remaining -= count
        }
        let zeros = try source.read(padding)
        guard zeros.count == padding else { throw truncated("inside the padding of \(place)") }
        guard zeros.allSatisfy({ $0 == 0 }) else {
            throw BundleError(.containerPadding, "a padding byte is not zero", entry: lastPath)
        }
        padding = 0
    }

    /// Reads the next header without comparing it with the manifest, which is not trusted yet or could not be read.
    /// Call `readDataWhole` or `skipData` next.
    ///
    /// - Returns: nil at the end, or if the container is broken.
    package func nextHeader() -> (name: String, size: Int)? {
        guard let header = try? readHeader() else { return nil }
        begin(header)
        return (header.name, header.size)
    }

    /// Skips the bytes of the current entry; false if the source ends too early or cannot be read. In a regular file,
    /// only the next read notices an early end.
    func skipData() -> Bool {
        let count = remaining + padding
        (remaining, padding) = (0, 0)
        return (try? source.skip(count)) == count
    }

    /// Reads the rest of the current entry into one array.
    func readDataWhole() throws(BundleError) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(remaining)
        try readData { bytes.append(copying: $0) }
        return bytes
    }

    /// The name of the last entry whose header was read.
    private var place: String { lastPath ?? BundleMagic.path }

    /// Creates the error for a bundle that is cut short. It says how many bytes are missing if the manifest was read.
    private func truncated(_ place: String) -> BundleError {
        guard let manifest else {
            return BundleError(
                .containerTruncated, "cut short: ends after \(source.position) bytes, \(place)")
        }
        func length(_ entries: [ManifestEntry]) -> Int {
            entries.reduce(0) { $0 + UstarHeader.entryLength($1.size) }
        }
        let whole = fixedBytes + length(manifest.entries) - length(withheld)
        let isCertain = manifest.entries[next...].allSatisfy { !$0.isWithholdable }
        return BundleError(
            .containerTruncated,
            "cut short: has \(source.position) bytes, expected \(whole)"
                + "\(isCertain ? "" : " (or fewer, if entries were withheld)"); it ends \(place)")
    }

    private func begin(_ header: UstarHeader) {
        remaining = header.size
        padding = UstarHeader.padding(header.size)
        lastPath = header.name
        seen.insert(Array(header.name.utf8))
    }

    /// Reads the next header; nil for a block of zeros.
    private func readHeader() throws(BundleError) -> UstarHeader? {
        let block = try source.read(UstarHeader.blockLength)
        guard block.count == UstarHeader.blockLength else {
            throw truncated("\(block.isEmpty ? "after" : "inside the header after") \(place)")
        }
        if block.allSatisfy({ $0 == 0 }) { return nil }
        return try UstarHeader(block)
    }

    private func readFixed(_ name: String, limit: Int) throws(BundleError) -> [UInt8] {
        guard let header = try readHeader() else {
            throw BundleError(.containerHeader, "found zero bytes, expected the header of \(name)")
        }
        guard Self.isPath(header.name) else { throw Self.badPath(header.name) }
        guard !seen.contains(Array(header.name.utf8)) else { throw duplicate(header.name) }
        guard header.name == name else {
            throw BundleError(.containerOrder, "found where \(name) was expected", entry: header.name)
        }
        guard header.size <= limit else {
            throw BundleError(.containerLimit, "has \(header.size) bytes, at most \(limit) are allowed", entry: name)
        }
        begin(header)
        fixedBytes += UstarHeader.blockLength + remaining + padding
        return try readDataWhole()
    }

    private func payloadPath(_ header: UstarHeader) throws(BundleError) -> EntryPath {
        guard Self.isPath(header.name) else { throw Self.badPath(header.name) }
        guard !seen.contains(Array(header.name.utf8)), let path = EntryPath(header.name) else {
            throw duplicate(header.name)
        }
        if let lastPath, let last = EntryPath(lastPath), path < last {
            throw BundleError(
                .containerOrder, "comes after \(last), expected the order of the manifest", entry: header.name)
        }
        return path
    }

    private func skip(_ entries: ArraySlice<ManifestEntry>) throws(BundleError) {
        for entry in entries {
            guard entry.isWithholdable else {
                throw BundleError(.containerMissing, "is missing from the bundle", entry: entry.path.description)
            }
            withheld.append(entry)
        }
    }

    private func readEnd() throws(BundleError) {
        let block = try source.read(UstarHeader.blockLength)
        guard block.allSatisfy({ $0 == 0 }) else {
            throw BundleError(.containerEnd, "the end mark has one zero block, expected two")
        }
        guard block.count == UstarHeader.blockLength else { throw truncated("inside the end mark") }
        guard try source.isAtEnd else {
            throw BundleError(
                .containerTrailing, "has more bytes after the end of the archive, at offset \(source.position)")
        }
    }

    private func duplicate(_ name: String) -> BundleError {
        BundleError(.containerDuplicate, "appears twice in the bundle", entry: name)
    }

    private static func isPath(_ name: String) -> Bool {
        name == BundleMagic.path || name == "manifest.json" || name == "assertion.cbor" || EntryPath(name) != nil
    }

    private static func badPath(_ name: String) -> BundleError {
        BundleError(.containerPath, "this path is not allowed in a bundle", entry: name)
    }
}

extension BundleReader {
    /// Checks the first 1024 bytes: rules C1 to C3.
    private func readMagic() throws(BundleError) {
        let magic = BundleMagic.bytes
        let bytes = try source.read(magic.count)
        seen.insert(Array(BundleMagic.path.utf8))
        if bytes == magic { return }
        if magic.starts(with: bytes) {
            throw bytes.isEmpty
                ? BundleError(.containerTruncated, "is empty")
                : truncated("inside the first 1024 bytes")
        }
        if bytes.prefix(100) == magic.prefix(100) {
            let type = bytes.dropFirst(UstarHeader.blockLength)
            let prefix = BundleMagic.typePrefix.utf8
            let version = type.dropFirst(prefix.count)
            if type.starts(with: prefix), !"1\n".utf8.starts(with: version.prefix(2)) {
                if version.starts(with: "1\r\n".utf8) {
                    throw BundleError(
                        .containerVersion,
                        "line ends were changed in transit (LF became CR LF); get the file again, in binary mode")
                }
                let digits = version.prefix { (0x21...0x7e).contains($0) }
                let shown = digits.isEmpty ? "has no version" : "has version \(String(decoding: digits, as: UTF8.self))"
                throw BundleError(.containerVersion, "\(shown) of the format; this program reads version 1")
            }
        }
        let kind = FileKind(bytes)
        throw BundleError(
            .containerMagic,
            kind.map { "is \($0.words), not a capture bundle" }
                ?? "is not a capture bundle: its first bytes are wrong",
            cause: .otherKind)
    }
}

/// The content of a payload entry that is not in a bundle yet, or the floats from which an entry is made.
package enum PayloadContent: Sendable {
    case bytes([UInt8])
    /// Bytes of a file, from an offset on. They are read a second time and must still be the same.
    case file(FileHandle, name: String, offset: Int = 0)

    package static let memoryLimit = 32 << 20

    package func stream(
        size: Int, sha256: Digest, to body: (Span<UInt8>) throws -> Void
    ) throws(BundleError) {
        switch self {
        case .bytes(let bytes): try native { try body(bytes.span) }
        case .file(let handle, let name, let offset):
            try native({ .reading(name, $0) }) { try handle.seek(to: offset) }
            let found = try BundleSource(handle: handle, name: name).digest(limit: size, body)
            guard found == sha256 else { throw Self.changed(name) }
        }
    }

    /// Hashes a file in pieces and passes the pieces to `body`. The file must have exactly `size` bytes.
    package static func hash(
        _ handle: FileHandle, name: String, expecting size: Int,
        _ body: (Span<UInt8>) throws -> Void = { _ in }
    ) throws(BundleError) -> Digest {
        let source = BundleSource(handle: handle, name: name)
        let digest = try source.digest(limit: size, body)
        guard source.position == size, try source.isAtEnd else { throw changed(name) }
        return digest
    }

    static func changed(_ name: String) -> BundleError {
        BundleError(.inputUnreadable, "changed while it was being read", file: name)
    }
}
