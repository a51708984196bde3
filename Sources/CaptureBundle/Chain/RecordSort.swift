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
        if runs.isEmpty {
            for record in waiting { try body(record) }
            return
        }
        // The last run stays in memory.
        runs.append(Run(temporary, offset: 0, left: 0, piece: waiting))
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
        runs.append(Run(temporary, offset: try temporary.append(bytes), left: waiting.count))
        waiting.removeAll(keepingCapacity: true)
    }
}

/// Reads the records of a run in pieces.
private struct Run {
    private static let pieceLength = 128

    private let temporary: TemporaryText
    private var offset: Int
    /// How many records are in the file only.
    private var left: Int
    private var piece: [LinkRecord]
    /// The place of the next record in the piece.
    var next = 0

    init(_ temporary: TemporaryText, offset: Int, left: Int, piece: [LinkRecord] = []) {
        (self.temporary, self.offset, self.left, self.piece) = (temporary, offset, left, piece)
    }

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
