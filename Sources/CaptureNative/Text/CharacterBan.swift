// This file deprecates the members of String that walk over Characters, so that using one does not compile here: see
// TextAsBytes.swift. They are never called, so most of them just return the text itself.

@available(*, deprecated, message: "outside Swift, text is bytes: use utf8 or unicodeScalars")
extension String {
    var count: Int { utf8.count }
    var first: Character? { nil }
    var last: Character? { nil }
    var indices: [Index] { [] }
    func prefix(_ count: Int) -> String { self }
    func suffix(_ count: Int) -> String { self }
    func prefix(while isWanted: (Character) throws -> Bool) rethrows -> String { self }
    func drop(while isWanted: (Character) throws -> Bool) rethrows -> String { self }
    func dropFirst(_ count: Int = 1) -> String { self }
    func dropLast(_ count: Int = 1) -> String { self }
    func split(
        separator: Character, maxSplits: Int = .max, omittingEmptySubsequences: Bool = true
    ) -> [String] { [self] }
    func split(
        maxSplits: Int = .max, omittingEmptySubsequences: Bool = true,
        whereSeparator isSeparator: (Character) throws -> Bool
    ) rethrows -> [String] { [self] }
    func contains(_ character: Character) -> Bool { false }
    func contains(where isWanted: (Character) throws -> Bool) rethrows -> Bool { false }
    func first(where isWanted: (Character) throws -> Bool) rethrows -> Character? { nil }
    func last(where isWanted: (Character) throws -> Bool) rethrows -> Character? { nil }
    func firstIndex(of character: Character) -> Index? { nil }
    func lastIndex(of character: Character) -> Index? { nil }
    func firstIndex(where isWanted: (Character) throws -> Bool) rethrows -> Index? { nil }
    func lastIndex(where isWanted: (Character) throws -> Bool) rethrows -> Index? { nil }
    func allSatisfy(_ isWanted: (Character) throws -> Bool) rethrows -> Bool { false }
    func map<Value>(_ change: (Character) throws -> Value) rethrows -> [Value] { [] }
    func compactMap<Value>(_ change: (Character) throws -> Value?) rethrows -> [Value] { [] }
    func flatMap<Values: Sequence>(_ change: (Character) throws -> Values) rethrows -> [Values.Element] { [] }
    func filter(_ isWanted: (Character) throws -> Bool) rethrows -> String { self }
    func forEach(_ body: (Character) throws -> Void) rethrows {}
    func reduce<Value>(_ start: Value, _ add: (Value, Character) throws -> Value) rethrows -> Value { start }
    func reduce<Value>(into start: Value, _ add: (inout Value, Character) throws -> Void) rethrows -> Value { start }
    func reversed() -> [Character] { [] }
    func enumerated() -> [(Int, Character)] { [] }
    func sorted() -> [Character] { [] }
    func index(after index: Index) -> Index { index }
    func index(before index: Index) -> Index { index }
    func index(_ index: Index, offsetBy count: Int) -> Index { index }
    func distance(from start: Index, to end: Index) -> Int { 0 }
    func starts(with other: some Sequence<Character>) -> Bool { false }
    func elementsEqual(_ other: some Sequence<Character>) -> Bool { false }
    mutating func append(_ character: Character) {}
    mutating func insert(_ character: Character, at index: Index) {}
    @discardableResult
    mutating func removeFirst() -> Character { " " }
    @discardableResult
    mutating func removeLast() -> Character { " " }
    mutating func removeFirst(_ count: Int) {}
    mutating func removeLast(_ count: Int) {}
    mutating func popLast() -> Character? { nil }
    mutating func removeAll(where isUnwanted: (Character) throws -> Bool) rethrows {}
    func makeIterator() -> IndexingIterator<[Character]> { [].makeIterator() }
    subscript(index: Index) -> Character { " " }
    // Slicing by indices would return a Substring, which has all of these members again.
    subscript(range: Range<Index>) -> String { self }
    subscript(range: some RangeExpression<Index>) -> String { self }
    subscript(all: (UnboundedRange_) -> Void) -> String { self }
    func prefix(upTo end: Index) -> String { self }
    func prefix(through last: Index) -> String { self }
    func suffix(from start: Index) -> String { self }
    func trimmingPrefix(_ start: some Collection<Character>) -> String { self }
}

@available(*, deprecated, message: "walks over Characters: use String, or a view of its bytes")
typealias Substring = String

extension Array where Element == Character {
    @available(*, deprecated, message: "outside Swift, text is bytes: use utf8 or unicodeScalars")
    init(_ text: String) { self = [] }
}

// The compiler reads a literal beside a Character as a String first, so a comparison uses these functions.
@available(*, deprecated, message: "outside Swift, text is bytes: use utf8 or unicodeScalars")
func == (one: Character, other: String) -> Bool { false }
@available(*, deprecated, message: "outside Swift, text is bytes: use utf8 or unicodeScalars")
func != (one: Character, other: String) -> Bool { false }
@available(*, deprecated, message: "outside Swift, text is bytes: use utf8 or unicodeScalars")
func ~= (one: String, other: Character) -> Bool { false }

@available(*, deprecated, message: "outside Swift, text is bytes: use utf8 or unicodeScalars")
extension Character {
    var utf8: [UInt8] { [] }
    var unicodeScalars: [Unicode.Scalar] { [] }
    var asciiValue: UInt8? { nil }
    var isASCII: Bool { false }
    var isNewline: Bool { false }
    var isWhitespace: Bool { false }
    var isNumber: Bool { false }
    var isLetter: Bool { false }
    var isHexDigit: Bool { false }
    var wholeNumberValue: Int? { nil }
    var hexDigitValue: Int? { nil }
}
