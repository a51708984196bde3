// Text from outside is bytes. Swift's own String works by Characters: it does not find a slash or a quote before a
// combining mark, a single Character can be a megabyte long, and "\u{212A}" equals "K". File systems, shells and JSON
// follow none of these rules. Therefore, in every module of this package:
//
// - equality, order, prefixes and suffixes of strings compare their UTF-8 bytes;
// - members that look at, count or cut Characters are deprecated, and a warning is an error here.
//
// The compiler prefers a declaration in the module itself to one in the standard library, so this file is part of each
// module: the other modules have symbolic links to the file in CaptureNative. `Tests/CharacterBan` shows that
// violations do not compile.

// MARK: - Comparing bytes

extension String {
    static func == (one: String, other: String) -> Bool { one.isSameBytes(as: other) }
    static func != (one: String, other: String) -> Bool { !one.isSameBytes(as: other) }
    static func ~= (one: String, other: String) -> Bool { one.isSameBytes(as: other) }
    static func < (one: String, other: String) -> Bool { one.utf8.lexicographicallyPrecedes(other.utf8) }
    func hasPrefix(_ start: String) -> Bool { utf8.starts(with: start.utf8) }
    func hasSuffix(_ end: String) -> Bool { utf8.reversed().starts(with: end.utf8.reversed()) }

    /// The text with its ASCII letters in lower case. Nothing else changes: "\u{212A}" does not become "k".
    func lowercased() -> String {
        let isUpper = UInt8(ascii: "A")...UInt8(ascii: "Z")
        return String(decoding: utf8.map { isUpper.contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }
}

// These are functions of the module, because the compiler prefers the standard library's generic `==` to a member of
// `String?`.
func == (one: String?, other: String?) -> Bool {
    switch (one, other) {
    case (nil, nil): true
    case (let one?, let other?): one.isSameBytes(as: other)
    default: false
    }
}

func == (one: String?, other: String) -> Bool { one.map { $0.isSameBytes(as: other) } ?? false }
func != (one: String?, other: String?) -> Bool { !(one == other) }
func != (one: String?, other: String) -> Bool { !(one == other) }

extension Sequence<String> {
    func contains(_ text: String) -> Bool { contains { $0.isSameBytes(as: text) } }
    func sorted() -> [String] { sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) } }
}

extension Collection<String> {
    func firstIndex(of text: String) -> Index? { firstIndex { $0.isSameBytes(as: text) } }
}

extension Set<String> {
    /// Whether the set contains exactly these bytes. Use it only for sets of our own words; text from outside goes into
    /// a `Set<[UInt8]>`, because a set of strings merges different texts that Unicode treats as equal.
    func contains(_ text: String) -> Bool { firstIndex(of: text).map { self[$0].isSameBytes(as: text) } ?? false }

    @available(*, deprecated, message: "merges different names that look alike: use Set<[UInt8]>")
    init(_ texts: some Sequence<String>) { self = texts.reduce(into: []) { $0.formUnion(CollectionOfOne($1)) } }

    @available(*, deprecated, message: "merges different names that look alike: use Set<[UInt8]>")
    mutating func insert(_ text: String) -> (inserted: Bool, memberAfterInsert: String) {
        let isNew = !contains(text)
        formUnion(CollectionOfOne(text))
        return (isNew, text)
    }
}

extension Dictionary where Key == String {
    /// The value of the key that has exactly these bytes.
    subscript(key: String) -> Value? {
        get {
            guard let index = index(forKey: key), self[index].key.isSameBytes(as: key) else { return nil }
            return self[index].value
        }
        set {
            if let newValue { updateValue(newValue, forKey: key) } else { removeValue(forKey: key) }
        }
    }
}

extension String {
    fileprivate func isSameBytes(as other: String) -> Bool {
        utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8)
    }

    /// Splits the text at an ASCII separator.
    ///
    /// - Parameter limit: The maximum number of pieces; the last piece holds the rest, including separators.
    func pieces(by separator: Unicode.Scalar, limit: Int = .max, keepsEmpty: Bool = false) -> [String] {
        let byte = UInt8(ascii: separator)
        let parts = utf8.split(separator: byte, maxSplits: limit - 1, omittingEmptySubsequences: !keepsEmpty)
        return parts.map { String(decoding: $0, as: UTF8.self) }
    }

    /// Splits the text at each occurrence of `text`, which must not be empty.
    func pieces(around text: String) -> [String] {
        let (bytes, mark) = (Array(utf8), Array(text.utf8))
        var pieces: [String] = []
        var start = 0
        var position = 0
        while position + mark.count <= bytes.count {
            if bytes[position..<(position + mark.count)].elementsEqual(mark) {
                pieces.append(String(decoding: bytes[start..<position], as: UTF8.self))
                position += mark.count
                start = position
            } else {
                position += 1
            }
        }
        return pieces + [String(decoding: bytes[start...], as: UTF8.self)]
    }

    /// Whether the bytes of `text`, which must not be empty, occur in this text.
    func contains(_ text: String) -> Bool { pieces(around: text).count > 1 }

    /// The text after the prefix `start`; nil if the text does not begin with it.
    func rest(after start: String) -> String? {
        guard utf8.starts(with: start.utf8) else { return nil }
        return String(decoding: utf8.dropFirst(start.utf8.count), as: UTF8.self)
    }

    /// The text before the suffix `end`; nil if the text does not end with it.
    func rest(before end: String) -> String? {
        guard utf8.reversed().starts(with: end.utf8.reversed()) else { return nil }
        return String(decoding: utf8.dropLast(end.utf8.count), as: UTF8.self)
    }

    /// The text without its `first` first and `last` last bytes, which must be ASCII.
    func without(first: Int = 0, last: Int = 0) -> String {
        String(decoding: utf8.dropFirst(first).dropLast(last), as: UTF8.self)
    }

    /// The beginning of the text in at most `count` bytes, cut between scalars.
    func cut(to count: Int) -> String {
        guard utf8.count > count else { return self }
        var bytes = Array(utf8.prefix(count + 1))
        // The byte after the cut must begin a scalar: continuation bytes are 10xxxxxx.
        while let last = bytes.popLast(), last & 0xc0 == 0x80 {}
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The text without leading and trailing spaces, tabs and line ends.
    var trimmed: String {
        let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 || byte == 0x0d || byte == 0x0a }
        let start = utf8.drop(while: isSpace)
        let end = start.lastIndex { !isSpace($0) }.map { utf8.index(after: $0) } ?? start.startIndex
        return String(decoding: start[..<end], as: UTF8.self)
    }

    /// Splits `name: value` at its first separator. Returns nil if there is none.
    func nameAndValue(by separator: Unicode.Scalar = ":") -> (name: String, value: String)? {
        let parts = pieces(by: separator, limit: 2, keepsEmpty: true)
        return parts.count == 2 ? (parts[0].trimmed, parts[1].trimmed) : nil
    }

    /// The number of scalars, which we use as the number of terminal columns.
    var width: Int { unicodeScalars.count }

    /// The first `columns` scalars of the text.
    func cut(toWidth columns: Int) -> String { String(String.UnicodeScalarView(unicodeScalars.prefix(columns))) }
}
