/// Sorts any number of records in little memory: sorted runs wait in a temporary file and are merged at the end.
final class RecordSort {
    private struct Run {
        let offset: Int
        let count: Int
    }

    private let runLength: Int
    private var waiting: [LinkRecord] = []
    private var runs: [Run] = []
    private var temporary: TemporaryText?

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
    func forEach(_ body: (LinkRecord) throws(BundleError) -> Void) throws(BundleError) {
        if temporary != nil { try store() }
        guard let temporary else {
            waiting.sort()
            for record in waiting { try body(record) }
            return
        }
        waiting = []
        var readers: [RunReader] = []
        for run in runs { readers.append(try RunReader(temporary, run.offset, run.count)) }
        // There are few runs, so a search through their heads costs less than reading the bundles did.
        while let least = readers.indices.min(by: { readers[$0].head < readers[$1].head }) {
            try body(readers[least].head)
            if try !readers[least].advance() { readers.remove(at: least) }
        }
    }

    /// Sorts the waiting records and moves them to the temporary file.
    private func store() throws(BundleError) {
        guard !waiting.isEmpty else { return }
        waiting.sort()
        let temporary = if let open = self.temporary { open } else { try TemporaryText() }
        self.temporary = temporary
        var start: Int?
        var bytes: [UInt8] = []
        for record in waiting {
            bytes.removeAll(keepingCapacity: true)
            record.encode(into: &bytes)
            let place = try temporary.append(bytes)
            start = start ?? place
        }
        runs.append(Run(offset: start ?? 0, count: waiting.count))
        waiting.removeAll(keepingCapacity: true)
    }
}

/// Reads the records of a run in pieces.
private struct RunReader {
    private static let pieceLength = 128

    private let temporary: TemporaryText
    private var offset: Int
    private var left: Int
    private var piece: [LinkRecord] = []
    private var next = 0

    /// - Parameter count: At least 1.
    init(_ temporary: TemporaryText, _ offset: Int, _ count: Int) throws(BundleError) {
        self.temporary = temporary
        self.offset = offset
        left = count
        try fill()
    }

    var head: LinkRecord { piece[next] }

    /// Moves to the next record; false after the last.
    mutating func advance() throws(BundleError) -> Bool {
        next += 1
        if next == piece.count {
            guard left > 0 else { return false }
            try fill()
        }
        return true
    }

    private mutating func fill() throws(BundleError) {
        let count = min(left, Self.pieceLength)
        let length = LinkRecord.length
        let bytes = try temporary.read(count * length, at: offset)
        piece = (0..<count).map { LinkRecord(decoding: bytes[($0 * length)..<(($0 + 1) * length)]) }
        next = 0
        left -= count
        offset += bytes.count
    }
}
