import CaptureNative

/// What the head of a bundle says about its place in a chain. Nothing after the assertion is read, except from a pipe.
package struct ChainHead: Sendable {
    package enum Finding: Sendable {
        case link(LinkRecord)
        /// The manifest is genuine and has no chain.
        case noLink
        /// The file is not a bundle, or its signature is wrong. There is at least one fault.
        case faulty([BundleError])
        case unreadable(BundleError)
    }

    package let file: String
    package let finding: Finding

    /// Reads the heads of many bundles on several threads.
    ///
    /// - Parameters:
    ///   - threads: The number of heads that are read at the same time; nil means one for each processor.
    ///   - next: Returns the next bundle, or nil after the last. Only one thread at a time calls it.
    ///   - deliver: Receives the heads on this thread, in the order of the bundles.
    /// - Throws: The errors that `deliver` throws.
    package static func readAll(
        threads: Int? = nil, next: @escaping @Sendable () -> Result<BundleSource.Place, BundleError>?,
        deliver: (ChainHead) throws -> Void
    ) throws(BundleError) {
        try native {
            try OrderedWork.run(threads: threads ?? Thread.processors, next: next, work: { ChainHead($0) }) {
                try deliver($0)
                return true
            }
        }
    }

    private init(_ place: Result<BundleSource.Place, BundleError>) {
        var name = ""
        do {
            let place = try place.get()
            name = place.name
            finding = try Self.find(place.open())
        } catch {
            finding = error.verdict == nil ? .unreadable(error) : .faulty([error])
            if let file = error.file { name = file }
        }
        file = name
    }

    /// - Throws: The first fault of the container or the manifest, or the error of a file that cannot be read.
    private static func find(_ source: BundleSource) throws(BundleError) -> Finding {
        let head = try BundleReader(source).readHead()
        let manifest = try Manifest.decode(head.manifest)
        // Otherwise the program that writes into the pipe would end with an error.
        try source.skipRest()
        let check = try AssertionCheck(head, manifest)
        guard check.faults.isEmpty, let counter = check.authenticatorData?.counter else {
            return .faulty(check.faults)
        }
        let record = LinkRecord(manifest, sha256: try Digest.of(head.manifest), counter: counter)
        return record.map { .link($0) } ?? .noLink
    }
}

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
