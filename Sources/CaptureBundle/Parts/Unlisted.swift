import CaptureNative

/// Finds what a bundle without a position must not contain (Spec/raw-captures.md section 7).
package enum Unlisted {
    /// The largest photo that is read.
    package static let sizeLimit = 1 << 30

    /// Whether the bytes of an entry must be read to judge it.
    static func needsBytes(_ path: EntryPath) -> Bool { [.photo, .confidence, .metadata].contains(path) }

    /// Says what an entry has that is not listed, such as `has XMP`; nil for an entry that is as listed.
    ///
    /// - Parameter bytes: The bytes of an entry that needs them.
    package static func words(_ path: EntryPath, _ bytes: [UInt8]) -> String? {
        switch path {
        case .photo: photo(bytes)
        case .confidence: confidence(bytes)
        case .metadata: metadata(bytes)
        default: path.role == .source ? "is a file as it was found" : nil
        }
    }

    package static func photo(_ jpeg: [UInt8]) -> String? {
        guard jpeg.count <= sizeLimit else { return "has more than \(sizeLimit) bytes" }
        guard let fields = try? PhotoFields(jpeg) else { return "is broken, or does not say how many lines it has" }
        var names: [String] = []
        for name in fields.others where !names.contains(name) && names.count < 100 { names.append(name) }
        guard !names.isEmpty else { return nil }
        let more = names.count > 4 ? " and \(names.count - 3) more" : ""
        return "has \(names.prefix(more.isEmpty ? 4 : 3).joined(separator: ", "))\(more)"
    }

    private static func metadata(_ json: [UInt8]) -> String? {
        let root = try? JSONParser.parse(json, nesting: BundleLimits.metadataNesting)
        guard let names = root.map({ CaptureMetadata.namesThatLookLikeAPosition(in: $0) }) else { return "is not JSON" }
        return names.isEmpty ? nil : "has the member \(names.joined(separator: ", "))"
    }
}

extension Unlisted {
    package static func confidence(_ png: [UInt8]) -> String? {
        guard let chunks = PNGChunks(png) else { return "is not a PNG" }
        let outside = "has bytes outside its chunks"
        let notRows = "has image data with extra, missing or invalid rows"
        var rows: GreyRows?
        for chunk in chunks {
            guard chunk.isIntact else { return "has a chunk \(chunk.type) with a wrong CRC" }
            switch chunk.type {
            case "IHDR" where chunk.isFirst && chunk.data.count == 13:
                rows = GreyRows(header: Array(chunk.data))
                if rows == nil { return "is not an 8-bit greyscale PNG without interlacing, or too large" }
            case "IDAT" where !chunk.isFirst:
                guard rows?.consume(chunk.data) ?? false else { return notRows }
            case "IEND" where !chunk.isFirst && chunk.data.isEmpty:
                guard rows?.isWhole ?? false else { return notRows }
                return chunk.isLast ? nil : outside
            case "IHDR", "IDAT", "IEND": return "has a chunk \(chunk.type) of another form"
            default: return "has the chunk \(chunk.type)"
            }
        }
        return outside
    }
}

/// Inflates the rows of an 8-bit grey PNG while its chunks are read, and counts them (PNG sections 7.2, 9 and 10).
private struct GreyRows {
    private let inflater: Inflater
    /// The bytes of a row, with that for its filter.
    private let rowLength: Int
    /// The bytes of rows that have not come yet.
    private var missing: Int
    /// How many bytes come before the next filter.
    private var toNextRow = 0
    private var buffer = [UInt8](repeating: 0, count: 1 << 16)
    /// Whether the rows are complete, and the checksum after them is right.
    private(set) var isWhole = false

    /// - Parameter header: The 13 bytes of `IHDR`.
    /// - Returns: nil for another kind of PNG.
    init?(header: [UInt8]) {
        func number(_ offset: Int) -> Int { header[offset..<(offset + 4)].reduce(0) { $0 << 8 | Int($1) } }
        let (width, height) = (number(0), number(4))
        // The bound keeps the work small for a few bytes that inflate to very many.
        guard width > 0, height > 0, (width + 1) * height <= Unlisted.sizeLimit, header[8...] == [8, 0, 0, 0, 0],
            let inflater = try? Inflater(.zlib)
        else { return nil }
        self.inflater = inflater
        rowLength = width + 1
        missing = rowLength * height
    }

    /// - Returns: false if the data are not the next part of exactly the rows.
    mutating func consume(_ data: ArraySlice<UInt8>) -> Bool {
        var rest = data
        while !isWhole {
            guard let step = try? inflater.inflate(rest.span, into: &buffer), count(step.produced) else { return false }
            rest = rest.dropFirst(step.consumed)
            switch step.outcome {
            case .outputFull, .blockEnded: break
            case .needsInput: return rest.isEmpty
            case .finished where missing == 0: isWhole = true
            case .finished, .corrupt: return false
            }
        }
        return rest.isEmpty
    }

    /// - Returns: false if there are more bytes than in the rows, or if a row has a filter that does not exist.
    private mutating func count(_ produced: Int) -> Bool {
        guard produced <= missing else { return false }
        missing -= produced
        while toNextRow < produced {
            guard buffer[toNextRow] <= 4 else { return false }
            toNextRow += rowLength
        }
        toNextRow -= produced
        return true
    }
}
