/// A SHA-256 value in four words. Unlike `Digest` it needs no memory of its own, so a million of them are cheap.
package struct DigestWords: Hashable, Comparable, Sendable {
    private let first: UInt64
    private let second: UInt64
    private let third: UInt64
    private let fourth: UInt64

    package init(_ digest: Digest) {
        func word(_ index: Int) -> UInt64 {
            digest.bytes[(8 * index)..<(8 * index + 8)].reduce(0) { $0 << 8 | UInt64($1) }
        }
        (first, second, third, fourth) = (word(0), word(1), word(2), word(3))
    }

    /// - Parameter words: Exactly four words.
    init(words: ArraySlice<UInt64>) {
        let start = words.startIndex
        (first, second, third, fourth) = (words[start], words[start + 1], words[start + 2], words[start + 3])
    }

    static let zero = DigestWords(words: [0, 0, 0, 0])

    var words: [UInt64] { [first, second, third, fourth] }

    package var digest: Digest {
        Digest(bytes: words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) } })
    }

    package static func < (one: DigestWords, other: DigestWords) -> Bool {
        (one.first, one.second, one.third, one.fourth) < (other.first, other.second, other.third, other.fourth)
    }
}
