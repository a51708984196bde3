import PictureMessages

/// Reads the headers of a tar archive a second time, beside libarchive, and refuses an archive in which programs see
/// different files (Spec/raw-captures.md section 1).
///
/// A member may have a name, a link and a size in its own header, in GNU headers (`L`, `K`) and in a pax header (`x`).
/// Programs take different ones of them, and some know only one kind.
struct TarHeaders {
    private static let recordsLimit = 1 << 23
    /// Sizes that the header of a member cannot hold are only in the pax header (POSIX pax, "size").
    private static let headerSizes = 0..<(1 << 33)

    /// Where members begin that libarchive has not reached: the position of the first header of each.
    private var starts: [Int] = []
    private var position = 0
    /// The number of bytes up to the next header, or to the records of this one.
    private var skipped = 0
    /// The block, or the contents of a header, that is being read.
    private var piece: [UInt8] = []
    private var wanted = 512
    private var awaited = Awaited.header
    private var zeros = 0
    private var isOver = false
    /// What the headers before a member said: under `L`, `K` and the keywords of pax. `x` is the pax header itself.
    private var said: [String: [UInt8]] = [:]
    private var start: Int?

    private enum Awaited { case header, contents(UInt8, Int), sparseMap(Int) }

    mutating func read(_ bytes: UnsafeRawBufferPointer) throws(DecodingRefusal) {
        var place = 0
        while place < bytes.count && !isOver {
            let count = min(skipped > 0 ? skipped : wanted - piece.count, bytes.count - place)
            if skipped > 0 { skipped -= count } else { unsafe piece += bytes[place..<(place + count)] }
            place += count
            position += count
            guard skipped == 0, piece.count == wanted else { continue }
            let whole = piece
            (piece, wanted) = ([], 512)
            switch awaited {
            case .header: try readHeader(whole)
            case .contents(let kind, let size): try readContents(kind, Array(whole[..<size]))
            case .sparseMap(let size): followSparseMap(whole[504], size)
            }
        }
    }

    /// Checks that libarchive takes the same member next: the one whose first header is at `position`.
    mutating func check(memberAt position: Int) throws(DecodingRefusal) {
        guard starts.first == position else { throw Self.differently("where a file begins") }
        starts.removeFirst()
    }

    /// Checks that libarchive took all members.
    func checkEnd() throws(DecodingRefusal) {
        guard starts.isEmpty else { throw Self.differently("where the archive ends") }
    }

    private mutating func readHeader(_ block: [UInt8]) throws(DecodingRefusal) {
        guard block.contains(where: { $0 != 0 }) else {
            zeros += 1
            isOver = zeros == 2
            return
        }
        guard zeros == 0 else { throw Self.differently("where the archive ends") }
        let sum = block.indices.reduce(0) { $0 + ((148..<156).contains($1) ? 32 : Int(block[$1])) }
        // libarchive says what is wrong with another block.
        guard Self.number(block[148..<156]) == sum else { return isOver = true }
        guard let size = Self.number(block[124..<136]) else { throw Self.differently("a size") }
        start = start ?? position - 512
        let kind = block[156]
        switch kind {
        case UInt8(ascii: "L"), UInt8(ascii: "K"), UInt8(ascii: "x"), UInt8(ascii: "X"), UInt8(ascii: "g"):
            guard size > 0 else { return }
            guard size <= Self.recordsLimit else {
                throw DecodingRefusal(.tooLarge, "is a tar archive with a header of \(size) bytes")
            }
            (awaited, wanted) = (.contents(kind, size), Self.padded(size))
        case UInt8(ascii: "V"): skipped = Self.padded(size)
        default: try endMember(block, size)
        }
    }

    private mutating func readContents(_ kind: UInt8, _ contents: [UInt8]) throws(DecodingRefusal) {
        awaited = .header
        switch kind {
        case UInt8(ascii: "L"): try note("L", value: Array(contents.prefix { $0 != 0 }), words: "a name")
        case UInt8(ascii: "K"): try note("K", value: Array(contents.prefix { $0 != 0 }), words: "a link")
        default:
            if kind != UInt8(ascii: "g") { try note("x", value: contents, words: "a header") }
            for (key, value) in try Self.records(contents) where Self.isRead(key) {
                guard kind != UInt8(ascii: "g"), !value.isEmpty, !value.contains(0) else {
                    throw Self.differently("\"\(key.cut(to: 60))\"")
                }
                // A sparse map of version 0.0 repeats these two.
                guard !["GNU.sparse.offset", "GNU.sparse.numbytes"].contains(key) else { continue }
                try note(key, value: value, words: "\"\(key.cut(to: 60))\"")
            }
        }
    }

    private mutating func note(_ key: String, value: [UInt8], words: String) throws(DecodingRefusal) {
        guard said[key].map({ $0 == value }) ?? true else { throw Self.differently("\(words) that is there twice") }
        said[key] = value
    }

    /// A member's own header, the last of its headers.
    private mutating func endMember(_ block: [UInt8], _ ownSize: Int) throws(DecodingRefusal) {
        starts.append(start ?? position - 512)
        let kind = block[156]
        for (long, pax) in [("L", "path"), ("K", "linkpath")] {
            if let name = said[long], let other = said[pax], name != other { throw Self.names(name, other) }
        }
        var size = ownSize
        if let text = said["size"] {
            guard let other = Self.number(text[...], radix: 10),
                other == ownSize || !Self.headerSizes.contains(other)
            else { throw Self.differently("a size") }
            size = other
        }
        if let text = said["SCHILY.realsize"], !text.elementsEqual(String(size).utf8) {
            throw Self.differently("a size")
        }
        try checkSparse(block)
        said = [:]
        start = nil
        // Links, devices and folders have no contents.
        if (UInt8(ascii: "1")...UInt8(ascii: "6")).contains(kind) { size = 0 }
        if kind == UInt8(ascii: "S") { followSparseMap(block[482], size) } else { skipped = Self.padded(size) }
    }

    /// Only some programs read sparse files in pax headers; the others show them under the name of `path`. GNU tar and
    /// bsdtar write `DIR/GNUSparseFile.N/FILE` there for `DIR/FILE`.
    private func checkSparse(_ block: [UInt8]) throws(DecodingRefusal) {
        let keys = said.keys.filter { $0.hasPrefix("GNU.sparse.") }
        guard !keys.isEmpty else { return }
        guard block[156] != UInt8(ascii: "S"), said["L"] == nil,
            said["GNU.sparse.map"] == nil || said["GNU.sparse.major"] == nil
        else { throw Self.differently("a sparse file") }
        guard let name = said["GNU.sparse.name"] else { return }
        let prefix = block[345..<500].prefix { $0 != 0 }
        let own = (prefix.isEmpty ? [] : prefix + [UInt8(ascii: "/")]) + block[..<100].prefix { $0 != 0 }
        let other = said["path"] ?? Array(own)
        var parts = Self.parts(other)
        if let place = parts.lastIndex(where: { $0.starts(with: "GNUSparseFile.".utf8) }) { parts.remove(at: place) }
        guard parts == Self.parts(name) else { throw Self.names(name, other) }
    }

    private static func parts(_ name: [UInt8]) -> [ArraySlice<UInt8>] {
        name.split(separator: UInt8(ascii: "/")).filter { !$0.elementsEqual(".".utf8) }
    }

    private mutating func followSparseMap(_ more: UInt8, _ size: Int) {
        if more == 0 { (awaited, skipped) = (.header, Self.padded(size)) } else { awaited = .sparseMap(size) }
    }

    private static func isRead(_ key: String) -> Bool {
        ["path", "linkpath", "size", "SCHILY.realsize"].contains(key) || key.hasPrefix("GNU.sparse.")
    }

    /// The records of a pax header: `LENGTH KEY=VALUE` and a line feed each.
    private static func records(_ contents: [UInt8]) throws(DecodingRefusal) -> [(String, [UInt8])] {
        var records: [(String, [UInt8])] = []
        var rest = contents[...]
        while let space = rest.firstIndex(of: 32) {
            guard let count = number(rest[..<space], radix: 10), count > 0, count <= rest.count,
                let equals = rest[space...].firstIndex(of: UInt8(ascii: "=")), equals < rest.startIndex + count,
                rest[rest.startIndex + count - 1] == 10
            else { break }
            let key = String(decoding: rest[(space + 1)..<equals], as: UTF8.self)
            records.append((key, Array(rest[(equals + 1)..<(rest.startIndex + count - 1)])))
            rest = rest.dropFirst(count)
        }
        guard rest.isEmpty else { throw differently("a damaged pax header") }
        return records
    }

    /// An octal number between spaces and zero bytes, or a binary one as GNU tar writes it; nil for anything else.
    private static func number(_ field: ArraySlice<UInt8>) -> Int? {
        if field.first == 0x80 {
            let bytes = field.dropFirst().drop { $0 == 0 }
            return bytes.count > 7 ? nil : bytes.reduce(0) { $0 << 8 | Int($1) }
        }
        let digits = field.drop { $0 == 32 || $0 == 0 }.prefix { $0 != 32 && $0 != 0 }
        guard field[digits.endIndex...].allSatisfy({ $0 == 32 || $0 == 0 }) else { return nil }
        return digits.isEmpty ? 0 : number(digits, radix: 8)
    }

    /// nil also for a sign, which `Int` would take.
    private static func number(_ digits: ArraySlice<UInt8>, radix: Int) -> Int? {
        guard digits.allSatisfy({ (48..<58).contains($0) }) else { return nil }
        return Int(String(decoding: digits, as: UTF8.self), radix: radix)
    }

    /// Up to the end of the last block.
    private static func padded(_ size: Int) -> Int { size > Int.max - 511 ? size : (size + 511) & ~511 }

    private static func differently(_ what: String) -> DecodingRefusal {
        DecodingRefusal.malformed("is a tar archive that programs read differently: \(what)")
    }

    private static func names(_ name: [UInt8], _ other: [UInt8]) -> DecodingRefusal {
        let words = [name, other].map { "\"\(String(decoding: $0, as: UTF8.self).cut(to: 200))\"" }
        return .malformed("is a tar archive that calls a file \(words[0]) in one header and \(words[1]) in another")
    }
}
