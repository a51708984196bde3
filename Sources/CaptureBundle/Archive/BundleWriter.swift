package import CaptureNative

/// Writes the container of a bundle (Spec/capture-bundle.md section 3). The code that checks headers when a bundle is
/// read also makes them here, so `BundleReader` accepts every bundle that this type writes.
package final class BundleWriter {
    /// The size of the buffer. Small pieces are collected in it to save system calls.
    private static let bufferLimit = 1 << 17

    private let name: String
    private let put: (Span<UInt8>) throws -> Void
    private var buffer: [UInt8] = []
    /// The number of bytes that the header of the current entry announced and that are not written yet.
    private var missing = 0
    /// The number of bytes that were written or are in the buffer.
    private(set) var byteCount = 0

    /// - Parameters:
    ///   - name: The name of the output in messages.
    ///   - put: Writes the next bytes. The caller syncs or commits the file.
    package init(name: String, to put: @escaping (Span<UInt8>) throws -> Void) {
        (self.name, self.put) = (name, put)
        buffer.reserveCapacity(Self.bufferLimit)
    }

    /// - Parameter assertion: nil leaves zero bytes in its place, where `AssertionPlace` puts it later.
    package func write(manifest: [UInt8], assertion: [UInt8]?) throws(BundleError) {
        append(BundleMagic.bytes + UstarHeader.entry("manifest.json", manifest))
        append(
            assertion.map { UstarHeader.entry(AssertionPlace.path, $0) }
                ?? [UInt8](repeating: 0, count: AssertionPlace.length))
    }

    package func write(_ entry: ManifestEntry, _ content: PayloadContent) throws(BundleError) {
        try begin(entry.path.description, size: entry.size)
        try content.stream(size: entry.size, sha256: entry.sha256) { try write($0) }
        try end(entry.size)
    }

    /// The length of a bundle in bytes (Spec/capture-bundle.md section 2).
    package static func byteCount(_ manifest: Manifest, manifestSize: Int, assertion: Int) -> Int {
        let sizes = [BundleMagic.content.count, manifestSize, assertion] + manifest.entries.map(\.size)
        return sizes.reduce(2 * UstarHeader.blockLength) { $0 + UstarHeader.entryLength($1) }
    }

    /// Writes the end of the archive. No entry can follow it.
    package func finish() throws(BundleError) {
        append([UInt8](repeating: 0, count: 2 * UstarHeader.blockLength))
        try flush()
    }

    /// Begins an entry. Write its bytes next, then call `end`.
    func begin(_ path: String, size: Int) throws(BundleError) {
        append(UstarHeader.encode(name: path.utf8, size: size))
        missing = size
        if buffer.count >= Self.bufferLimit { try flush() }
    }

    func end(_ size: Int) throws(BundleError) {
        guard missing == 0 else {
            throw BundleError(.internalFailure, "\(missing) bytes of an entry were not written", file: name)
        }
        append([UInt8](repeating: 0, count: UstarHeader.padding(size)))
    }

    func write(_ piece: Span<UInt8>) throws(BundleError) {
        guard piece.count <= missing else {
            throw BundleError(.internalFailure, "an entry has more bytes than its header says", file: name)
        }
        missing -= piece.count
        byteCount += piece.count
        if piece.count < Self.bufferLimit - buffer.count {
            buffer.append(copying: piece)
        } else {
            try flush()
            try native { try put(piece) }
        }
    }

    private func append(_ bytes: [UInt8]) {
        buffer += bytes
        byteCount += bytes.count
    }

    private func flush() throws(BundleError) {
        do {
            let full = buffer
            try native { try put(full.span) }
        }
        buffer.removeAll(keepingCapacity: true)
    }
}

/// The place of `assertion.cbor` in a bundle that is signed after everything else was written.
package enum AssertionPlace {
    static let path = "assertion.cbor"
    /// The length of the entry with its header, for an assertion of at most one block.
    static let length = 2 * UstarHeader.blockLength

    static func offset(manifestSize: Int) -> Int {
        BundleMagic.bytes.count + UstarHeader.entryLength(manifestSize)
    }

    package static func write(
        _ assertion: [UInt8], manifestSize: Int, to file: FileHandle, name: String
    ) throws(BundleError) {
        guard assertion.count <= UstarHeader.blockLength else {
            throw BundleError(.internalFailure, "an assertion has \(assertion.count) bytes, expected at most one block")
        }
        try native({ .writing(name, $0) }) {
            try file.seek(to: offset(manifestSize: manifestSize))
            try file.write(UstarHeader.entry(path, assertion))
        }
    }
}
