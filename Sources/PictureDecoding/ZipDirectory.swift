import PictureMessages

/// The directory at the end of a zip archive (PKWARE's APPNOTE.TXT 6.3.10, sections 4.3.12 to 4.3.16). It decides which
/// files the archive has.
///
/// Programs differ in where they look for a directory. So the file has to end with it: what marks its end is searched
/// from the end of the file, and everything must lie where it says.
struct ZipDirectory {
    static let fileMark: [UInt8] = [0x50, 0x4b, 3, 4]
    static let endMark: [UInt8] = [0x50, 0x4b, 5, 6]
    private static let entryMark: [UInt8] = [0x50, 0x4b, 1, 2]
    private static let wideEndMark: [UInt8] = [0x50, 0x4b, 6, 6]
    private static let locatorMark: [UInt8] = [0x50, 0x4b, 6, 7]
    private static let byteLimit = 1 << 26

    struct Entry {
        let name: [UInt8]
        let flags: Int
        let method: Int
        let crc: UInt32
        var compressed: Int
        var size: Int
        /// The position of the file's own header.
        var offset: Int
        /// The type bits of a Unix mode; 0 if the entry has none.
        let unixType: Int
    }

    let offset: Int
    /// Whether `\` separates the parts of names, as Windows PowerShell 5.1 writes them: no name has a `/`.
    private(set) var hasBackslashes = false
    private let bytes: [UInt8]
    private let count: Int

    /// Finds and reads the directory of the archive on standard input.
    init() throws(DecodingRefusal) {
        guard let size = Channel.size else { throw Self.cutOff }
        let tailCount = min(size, 22 + 0xffff)
        guard let tail = Channel.read(tailCount, at: size - tailCount),
            let end = (0...max(0, tailCount - 22)).last(where: { tail[$0...].starts(with: Self.endMark) }),
            tailCount >= 22, tail.number(at: end + 20, bytes: 2) == tailCount - end - 22
        else { throw Self.cutOff }
        let position = size - tailCount + end
        var (count, byteCount, offset, limit) = (
            tail.number(at: end + 10, bytes: 2), tail.number(at: end + 12, bytes: 4),
            tail.number(at: end + 16, bytes: 4), position
        )
        let end64 = try Self.wideEnd(before: position)
        // With a zip64 end, the numbers of disks may be only there (APPNOTE 4.4.1.4).
        let disks = [0, 2].map { tail.number(at: end + 4 + $0, bytes: 2) }
        guard disks.allSatisfy({ $0 == 0 || end64 != nil && $0 == 0xffff }),
            tail.number(at: end + 8, bytes: 2) == count
        else { throw Self.damage("it is a part of a divided archive, or its directory is damaged") }
        if let (wide, place) = end64 {
            let same = zip(wide, [(count, 0xffff), (byteCount, 0xffff_ffff), (offset, 0xffff_ffff)]).allSatisfy {
                $0 == $1.0 || $1.0 == $1.1
            }
            guard same else { throw Self.damage("its two ends differ") }
            (count, byteCount, offset, limit) = (wide[0], wide[1], wide[2], place)
        }
        guard byteCount <= Self.byteLimit else {
            throw DecodingRefusal(
                .tooLarge, "is a zip archive with a directory of more than \(Self.byteLimit >> 20) MiB")
        }
        guard offset + byteCount == limit, let bytes = Channel.read(byteCount, at: offset) else {
            throw Self.damage("its directory is not where the end of the file says")
        }
        (self.offset, self.bytes, self.count) = (offset, bytes, count)
        hasBackslashes = try allSatisfy { entry throws(DecodingRefusal) in !entry.name.contains(UInt8(ascii: "/")) }
    }

    /// The number of entries, the number of bytes and the position of a directory as the zip64 end says, and the
    /// position of that end; nil if the archive has none.
    private static func wideEnd(before end: Int) throws(DecodingRefusal) -> ([Int], Int)? {
        guard end >= 20, let locator = Channel.read(20, at: end - 20), locator.starts(with: locatorMark) else {
            return nil
        }
        guard let place = locator.wideNumber(at: 8), place == end - 20 - 56, let wide = Channel.read(56, at: place),
            wide.starts(with: wideEndMark), wide.number(at: 16, bytes: 4) == 0, wide.number(at: 20, bytes: 4) == 0,
            let count = wide.wideNumber(at: 32),
            let byteCount = wide.wideNumber(at: 40), let offset = wide.wideNumber(at: 48)
        else { throw damage("its zip64 end is wrong") }
        return ([count, byteCount, offset], place)
    }

    /// Passes the entries to `body` in their order, until it returns false.
    func allSatisfy(_ body: (Entry) throws(DecodingRefusal) -> Bool) throws(DecodingRefusal) -> Bool {
        var position = 0
        for _ in 0..<count {
            let entry = try entry(&position)
            guard try body(entry) else { return false }
        }
        guard position == bytes.count else { throw Self.damage("its directory has more than its entries") }
        return true
    }

    private func entry(_ position: inout Int) throws(DecodingRefusal) -> Entry {
        let start = position
        guard start + 46 <= bytes.count, bytes[start...].starts(with: Self.entryMark) else {
            throw Self.damage("its directory has fewer entries than it says")
        }
        let field = { (offset: Int, count: Int) in self.bytes.number(at: start + offset, bytes: count) }
        let nameEnd = start + 46 + field(28, 2)
        let extraEnd = nameEnd + field(30, 2)
        position = extraEnd + field(32, 2)
        guard position <= bytes.count, field(34, 2) == 0 else { throw Self.damage("its directory is damaged") }
        // The high byte of the version tells the system: 3 is Unix and 19 is macOS.
        let isUnix = [3, 19].contains(field(5, 1))
        var entry = Entry(
            name: Array(bytes[(start + 46)..<nameEnd]), flags: field(8, 2), method: field(10, 2),
            crc: UInt32(truncatingIfNeeded: field(16, 4)), compressed: field(20, 4), size: field(24, 4),
            offset: field(42, 4), unixType: isUnix ? field(40, 2) & 0xf000 : 0)
        try ArchiveUnpacker.check(name: entry.name)
        try read(extra: Array(bytes[nameEnd..<extraEnd]), into: &entry)
        return entry
    }

    /// Reads the extra fields: 1 has the numbers that need more than 32 bits, 0x7075 the name in Unicode.
    private func read(extra: [UInt8], into entry: inout Entry) throws(DecodingRefusal) {
        var place = 0
        while place + 4 <= extra.count {
            let (kind, count) = (extra.number(at: place, bytes: 2), extra.number(at: place + 2, bytes: 2))
            let start = place + 4
            place = start + count
            guard place <= extra.count else { throw Self.damage("its directory is damaged") }
            if kind == 0x7075 {
                guard extra[start..<place].dropFirst(5).elementsEqual(entry.name) else {
                    throw Self.names(entry.name, Array(extra[start..<place].dropFirst(5)))
                }
            }
            guard kind == 1 else { continue }
            var next = start
            for number in [\Entry.size, \.compressed, \.offset] where entry[keyPath: number] == 0xffff_ffff {
                guard next + 8 <= place, let wide = extra.wideNumber(at: next) else {
                    throw Self.damage("its directory is damaged")
                }
                entry[keyPath: number] = wide
                next += 8
            }
        }
    }

    private static let cutOff = DecodingRefusal.malformed(
        "is a zip archive that was cut off, or has other bytes at its end")

    static func damage(_ text: String) -> DecodingRefusal {
        DecodingRefusal.malformed("is a damaged zip archive: \(text)")
    }

    /// The refusal for a file with two names.
    static func names(_ name: [UInt8], _ other: [UInt8]) -> DecodingRefusal {
        let words = [name, other].map { "\"\(String(decoding: $0, as: UTF8.self).cut(to: 200))\"" }
        return .malformed("is a zip archive that calls a file \(words[0]) in its directory and \(words[1]) elsewhere")
    }
}

extension [UInt8] {
    /// The number in the 8 bytes at `offset`, which must be inside the array; nil if it is above 2^56.
    fileprivate func wideNumber(at offset: Int) -> Int? {
        self[offset + 7] == 0 ? number(at: offset, bytes: 7) : nil
    }
}
