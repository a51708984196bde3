/// One copy of a link: the facts of a signed head that place it in its chain. All records have the same size, so a
/// million of them can be sorted on disk.
package struct LinkRecord: Sendable {
    /// The key id of the device.
    let key: DigestWords
    let seq: Int
    let manifest: DigestWords
    /// Zero at seq 1.
    let prev: DigestWords
    /// The claimed time in milliseconds since 1970.
    let time: Int
    let counter: UInt32
    var name = Name(offset: 0, length: 0)

    /// The place of a file's name in the file of names.
    package struct Name: Hashable, Sendable {
        let offset: Int
        let length: Int
    }
}

extension LinkRecord {
    /// Returns nil for a manifest without a chain.
    ///
    /// - Parameters:
    ///   - manifest: A manifest whose signature verified.
    ///   - sha256: The SHA-256 of its bytes.
    ///   - counter: The counter of the assertion.
    package init?(_ manifest: Manifest, sha256: Digest, counter: UInt32) {
        guard let chain = manifest.chain else { return nil }
        self.init(
            key: DigestWords(manifest.device.keyID), seq: chain.seq, manifest: DigestWords(sha256),
            prev: chain.prev.map { DigestWords($0) } ?? .zero, time: manifest.capturedAt.milliseconds, counter: counter)
    }

    /// The record of a bundle that was verified; nil if its manifest is not genuine or has no chain.
    package init?(_ report: VerificationReport) {
        guard report.isManifestGenuine, let manifest = report.manifest, let sha256 = report.manifestSHA256,
            let counter = report.authenticatorData?.counter
        else { return nil }
        self.init(manifest, sha256: sha256, counter: counter)
    }

    func isCopy(of other: LinkRecord) -> Bool {
        manifest == other.manifest && seq == other.seq && key == other.key
    }
}

extension LinkRecord: Comparable {
    /// The order of the devices, of the links of each device, and of the copies of each link.
    package static func < (one: LinkRecord, other: LinkRecord) -> Bool {
        (one.key, one.seq, one.manifest, one.counter, one.name.offset)
            < (other.key, other.seq, other.manifest, other.counter, other.name.offset)
    }
}

extension LinkRecord {
    /// The number of bytes of an encoded record.
    static let length = 128

    func encode(into bytes: inout [UInt8]) {
        let rest = [
            UInt64(bitPattern: Int64(seq)), UInt64(bitPattern: Int64(time)),
            UInt64(counter) << 32 | UInt64(name.length), UInt64(bitPattern: Int64(name.offset)),
        ]
        for word in key.words + manifest.words + prev.words + rest {
            for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: word >> shift)) }
        }
    }

    /// - Parameter bytes: `length` bytes that `encode` wrote.
    init(decoding bytes: ArraySlice<UInt8>) {
        let words = stride(from: bytes.startIndex, to: bytes.endIndex, by: 8).map { start in
            bytes[start..<(start + 8)].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        }
        key = DigestWords(words: words[0..<4])
        manifest = DigestWords(words: words[4..<8])
        prev = DigestWords(words: words[8..<12])
        seq = Int(Int64(bitPattern: words[12]))
        time = Int(Int64(bitPattern: words[13]))
        counter = UInt32(truncatingIfNeeded: words[14] >> 32)
        name = Name(offset: Int(Int64(bitPattern: words[15])), length: Int(words[14] & 0xffff_ffff))
    }
}

/// Sorts any number of records in little memory: sorted runs wait in a temporary file and are merged at the end.
final class RecordSort {
    private let runLength: Int
    private var waiting: [LinkRecord] = []
    private var runs: [Run] = []
    private let temporary = TemporaryText()

    /// - Parameter runLength: The number of records that are sorted in memory.
    init(runLength: Int = 1 << 16) { self.runLength = runLength }

    /// - Throws: `output.unusable`, `io.failed`.
    func add(_ record: LinkRecord) throws(BundleError) {
        waiting.append(record)
        if waiting.count == runLength { try store() }
    }

    /// Passes all records to `body` in their order. Call it once, after the last `add`.
    ///
    /// - Throws: `io.failed`, and the errors that `body` throws.
    func forEach(_ body: (LinkRecord) throws -> Void) throws {
        waiting.sort()
        // The last run stays in memory.
        runs.append(Run(temporary: temporary, offset: 0, left: 0, piece: waiting))
        for index in runs.indices.reversed() where try !runs[index].hasHead() { runs.remove(at: index) }
        // There are few runs, so a search through their heads costs less than reading the bundles did.
        while let least = runs.indices.min(by: { runs[$0].head < runs[$1].head }) {
            try body(runs[least].head)
            runs[least].next += 1
            if try !runs[least].hasHead() { runs.remove(at: least) }
        }
    }

    /// Sorts the waiting records and moves them to the temporary file.
    private func store() throws(BundleError) {
        waiting.sort()
        var bytes: [UInt8] = []
        for record in waiting { record.encode(into: &bytes) }
        runs.append(Run(temporary: temporary, offset: try temporary.append(bytes), left: waiting.count))
        waiting.removeAll(keepingCapacity: true)
    }
}

/// Reads the records of a run in pieces.
private struct Run {
    private static let pieceLength = 128

    let temporary: TemporaryText
    var offset: Int
    /// How many records are in the file only.
    var left: Int
    var piece: [LinkRecord] = []
    /// The place of the next record in the piece.
    var next = 0

    var head: LinkRecord { piece[next] }

    /// Whether there is another record, which is then in the piece.
    mutating func hasHead() throws(BundleError) -> Bool {
        if next == piece.count, left > 0 {
            let (count, length) = (min(left, Self.pieceLength), LinkRecord.length)
            let bytes = try temporary.read(count * length, at: offset)
            piece = (0..<count).map { LinkRecord(decoding: bytes[($0 * length)..<(($0 + 1) * length)]) }
            (next, left, offset) = (0, left - count, offset + bytes.count)
        }
        return next < piece.count
    }
}
