import CaptureTestSupport
import Foundation
import Testing

@testable import CaptureBundle

/// Chains of many links; the vectors of the part `chain` are about single rules.
struct ChainTests {
    private typealias Link = ChainModel.Link

    private static func digest(_ number: Int) throws -> Digest { try Digest.of(Array("\(number)".utf8)) }

    /// A record of a made-up manifest.
    private static func record(_ link: Link) throws -> LinkRecord {
        LinkRecord(
            key: DigestWords(try digest(link.key)), seq: link.seq, manifest: DigestWords(try digest(link.manifest)),
            prev: link.prev < 0 ? .zero : DigestWords(try digest(link.prev)), time: link.time,
            counter: UInt32(link.counter))
    }

    @Test func sortsRunsOnDiskAsInMemory() throws {
        var chance = SeededGenerator(seed: 14)
        var records: [LinkRecord] = []
        for place in 0..<(isLongRun ? 5000 : 400) {
            var record = try Self.record(
                Link(
                    key: .random(in: 0..<3, using: &chance), seq: .random(in: 1...(1 << 53 - 1), using: &chance),
                    manifest: .random(in: 0..<100, using: &chance), prev: -1,
                    counter: .random(in: 0...(1 << 32 - 1), using: &chance), time: -place))
            record.name = LinkRecord.Name(offset: place << 20, length: place)
            records.append(record)
        }
        for runLength in [7, 100, 400, 100_000] + (isLongRun ? [1, 5000] : []) {
            let sort = RecordSort(runLength: runLength)
            for record in records { try sort.add(record) }
            var sorted: [LinkRecord] = []
            try sort.forEach { sorted.append($0) }
            #expect(sorted.map(\.name) == records.sorted().map(\.name), "runs of \(runLength)")
            #expect(sorted.map(\.time) == records.sorted().map(\.time))
            #expect(sorted.map(\.manifest.digest) == records.sorted().map(\.manifest.digest))
        }
    }

    /// Random small chains: the walk finds what the rules of the Spec say, applied one by one.
    @Test func findsTheFaultsThatTheRulesSay() throws {
        var chance = SeededGenerator(seed: 113)
        var found: Set<BundleError.Code> = []
        for round in 0..<(isLongRun ? 3000 : 600) {
            var links: [Link] = []
            for manifest in 0..<Int.random(in: 1...9, using: &chance) {
                let seq = Int.random(in: 1...4, using: &chance)
                let before = links.filter { $0.seq == seq - 1 }.randomElement(using: &chance)
                let link = Link(
                    key: .random(in: 0..<2, using: &chance), seq: seq, manifest: manifest,
                    prev: seq == 1 ? -1 : before?.manifest ?? 1000 + manifest,
                    counter: .random(in: seq...(seq + 3), using: &chance), time: 0)
                links.append(link)
                if Bool.random(using: &chance) {
                    var copy = link
                    copy.counter += .random(in: 0...1, using: &chance)
                    links.append(copy)
                }
            }
            let chains = ChainCollection()
            for link in links.shuffled(using: &chance) { try chains.add(try Self.record(link), file: "") }
            var faults: Set<ChainModel.Fault> = []
            try chains.walk { event in
                guard case .fault(let fault) = event else { return }
                faults.insert(.init(code: fault.code, first: fault.seqs.lowerBound, last: fault.seqs.upperBound))
            }
            let expected = ChainModel.faults(links)
            #expect(faults == expected, "round \(round): \(links)")
            found.formUnion(expected.map(\.code))
        }
        #expect(found == [.chainGap, .chainFork, .chainOrder])
    }
}

/// The rules H1 to H3 of Spec/capture-bundle.md section 11.3, as they are written there.
enum ChainModel {
    struct Link: Hashable {
        var key: Int
        var seq: Int
        var manifest: Int
        var prev: Int
        var counter: Int
        var time: Int
    }

    struct Fault: Hashable {
        var code: BundleError.Code
        var first: Int
        var last: Int
    }

    static func faults(_ copies: [Link]) -> Set<Fault> {
        Set(Set(copies.map(\.key)).flatMap { key in faults(ofDevice: copies.filter { $0.key == key }) })
    }

    private static func faults(ofDevice copies: [Link]) -> [Fault] {
        func counters(_ manifest: Int) -> [Int] { copies.filter { $0.manifest == manifest }.map(\.counter) }
        let seqs = Set(copies.map(\.seq)).sorted()
        var faults: [Fault] = []
        for (index, seq) in seqs.enumerated() {
            let links = Set(copies.filter { $0.seq == seq }.map(\.manifest))
            if links.count > 1 { faults.append(Fault(code: .chainFork, first: seq, last: seq)) }
            guard index > 0 else { continue }
            let lower = seqs[index - 1]
            let before = Set(copies.filter { $0.seq == lower }.map(\.manifest))
            if lower != seq - 1 { faults.append(Fault(code: .chainGap, first: lower + 1, last: seq - 1)) }
            for link in links {
                var followed = copies.first { $0.manifest == link }?.prev ?? -1
                if lower != seq - 1 {
                    followed = before.min { (counters($0).max() ?? 0) < (counters($1).max() ?? 0) } ?? -1
                } else if !before.contains(followed) {
                    faults.append(Fault(code: .chainFork, first: seq, last: seq))
                    continue
                }
                if (counters(link).min() ?? 0) <= (counters(followed).max() ?? 0) {
                    faults.append(Fault(code: .chainOrder, first: seq, last: seq))
                }
            }
        }
        return faults
    }
}
