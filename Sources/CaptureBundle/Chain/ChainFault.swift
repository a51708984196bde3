extension BundleError.Code {
    package static let chainGap = Self("chain.gap")
    package static let chainFork = Self("chain.fork")
    package static let chainOrder = Self("chain.order")
}

package struct WalkedLink: Sendable {
    /// The copy with the lowest counter; of several such copies the first one.
    let record: LinkRecord
    package private(set) var copies = 1
    private(set) var highestCounter: UInt32

    init(_ record: LinkRecord) {
        self.record = record
        highestCounter = record.counter
    }

    /// Adds a copy. Copies come in the order of their counters.
    mutating func add(_ copy: LinkRecord) {
        copies += 1
        highestCounter = copy.counter
    }

    package var key: Digest { record.key.digest }
    package var seq: Int { record.seq }
    package var manifestSHA256: Digest { record.manifest.digest }
    package var capturedAt: CaptureTime? { CaptureTime(milliseconds: record.time) }
    /// The lowest counter of the copies.
    package var counter: UInt32 { record.counter }
    package var name: LinkRecord.Name { record.name }
}

/// A broken rule of a chain: H1, H2 or H3 (Spec/capture-bundle.md section 11.3).
package struct ChainFault: Sendable {
    package enum Kind: Sendable {
        /// No link has these numbers.
        case gap
        /// Several links have the same number.
        case twins
        /// A link follows another link than those that are present.
        case stranger
        /// A link has this counter, although the link that it follows, with the number `seq`, has the counter `before`.
        case order(counter: UInt32, seq: Int, before: UInt32)
    }

    package let kind: Kind
    package let seqs: ClosedRange<Int>
    /// The names of at most two of the links, or of a link before the gap and of one after it.
    package let names: [LinkRecord.Name]
    /// The number of links with this fault.
    private(set) var count = 1

    /// Raises the count of `fault`; returns `first` if `fault` is nil.
    static func another(_ fault: ChainFault?, _ first: @autoclosure () -> ChainFault) -> ChainFault {
        guard var fault else { return first() }
        fault.count += 1
        return fault
    }

    package var code: BundleError.Code {
        switch kind {
        case .gap: .chainGap
        case .twins, .stranger: .chainFork
        case .order: .chainOrder
        }
    }

    /// The fault in words.
    ///
    /// - Parameter files: The files with `names`.
    package func message(_ files: [String]) -> String {
        let seq = seqs.lowerBound
        let more = count > 1 ? " and \(count - 1) more" : ""
        let link = "link \(seq) (\(files.first ?? "")\(more))"
        switch kind {
        case .gap:
            var place = ""
            if let before = files.first, let after = files.last {
                place = " between \(before) (link \(seq - 1)) and \(after) (link \(seqs.upperBound + 1))"
            }
            if seqs.count == 1 { return "link \(seq) is missing\(place)" }
            return "links \(seq) \(seqs.count == 2 ? "and" : "to") \(seqs.upperBound) are missing\(place)"
        case .twins:
            let example = count > files.count ? "for example " : ""
            return "\(count) different captures have link \(seq): \(example)\(files.joined(separator: " and "))"
        case .stranger:
            return "\(link) follows another link \(seq - 1), which is not among these files"
        case .order(let counter, let last, let before):
            return "\(link) has counter \(counter), expected more than \(before), the counter of link \(last)"
        }
    }
}

/// The numbers of a device's chain.
package struct ChainSummary: Sendable {
    private let words: DigestWords
    package let first: Int
    package internal(set) var last: Int
    package internal(set) var links = 0
    package internal(set) var copies = 0
    /// The links that are missing between the first and the last.
    package internal(set) var missing = 0
    package internal(set) var faults = 0
    /// The link with the highest number; of several such links the one with the lowest hash.
    package internal(set) var newest: WalkedLink?
    /// The links that claim an earlier time than the link that they follow.
    package private(set) var earlierTimes = 0
    /// The number of the first such link.
    package private(set) var firstEarlierTime: Int?

    init(_ record: LinkRecord) {
        words = record.key
        first = record.seq
        last = record.seq
    }

    package var key: Digest { words.digest }

    mutating func addEarlierTime(_ link: WalkedLink) {
        earlierTimes += 1
        firstEarlierTime = firstEarlierTime ?? link.seq
    }

    func isAbout(_ record: LinkRecord) -> Bool { words == record.key }
}
