/// Walks along the chains of all devices and finds their faults (Spec/capture-bundle.md section 11.3). It does no input
/// or output, and keeps only the links with the current number and with the number before it.
package struct ChainWalk {
    package enum Event: Sendable {
        /// The events up to the next `end` are about the device with this key id.
        case begin(Digest)
        case link(WalkedLink)
        /// These links follow each other without a fault.
        case run(ClosedRange<Int>)
        case fault(ChainFault)
        case end(ChainSummary)
    }

    /// The facts about a link that the links after it need.
    private struct Member {
        let manifest: DigestWords
        let highestCounter: UInt32
        let time: Int
    }

    /// The links with one number, in the order of their hashes.
    private struct Level {
        let seq: Int
        var members: [Member] = []
        var lowest: Member?
        /// The names of the first two.
        private(set) var names: [LinkRecord.Name] = []
        private var stranger: ChainFault?
        private var disorder: ChainFault?

        init(_ seq: Int) { self.seq = seq }

        mutating func add(_ link: WalkedLink) {
            let member = Member(
                manifest: link.record.manifest, highestCounter: link.highestCounter, time: link.record.time)
            members.append(member)
            if lowest.map({ member.highestCounter < $0.highestCounter }) ?? true { lowest = member }
            if names.count < 2 { names.append(link.name) }
        }

        mutating func addStranger(_ link: WalkedLink) {
            stranger = .another(stranger, ChainFault(kind: .stranger, seqs: seq...seq, names: [link.name]))
        }

        mutating func addDisorder(_ link: WalkedLink, after seq: Int, _ followed: Member) {
            let kind = ChainFault.Kind.order(counter: link.counter, seq: seq, before: followed.highestCounter)
            disorder = .another(disorder, ChainFault(kind: kind, seqs: self.seq...self.seq, names: [link.name]))
        }

        var faults: [ChainFault] {
            let isForked = members.count > 1
            let twins = ChainFault(kind: .twins, seqs: seq...seq, names: names, count: members.count)
            return [isForked ? twins : nil, stranger, disorder].compactMap(\.self)
        }

        /// The member with this hash.
        func member(_ manifest: DigestWords) -> Member? {
            var (low, high) = (0, members.count)
            while low < high {
                let middle = (low + high) / 2
                if members[middle].manifest < manifest { low = middle + 1 } else { high = middle }
            }
            return low < members.count && members[low].manifest == manifest ? members[low] : nil
        }
    }

    private var link: WalkedLink?
    private var level: Level?
    private var before: Level?
    private var run: ClosedRange<Int>?
    private var summary: ChainSummary?

    package typealias Emit = (Event) throws -> Void

    package init() {}

    /// Takes the next record. Records have to come in their order.
    package mutating func add(_ record: LinkRecord, _ emit: Emit) throws {
        if let open = link, record.isCopy(of: open.record) {
            link?.add(record)
            return
        }
        try closeLink(emit)
        if summary?.isAbout(record) != true {
            try closeDevice(emit)
            summary = ChainSummary(record)
            try emit(.begin(record.key.digest))
        }
        if let level, level.seq != record.seq { try closeLevel(emit) }
        level = level ?? Level(record.seq)
        link = WalkedLink(record)
    }

    /// Call it after the last record.
    package mutating func finish(_ emit: Emit) throws {
        try closeLink(emit)
        try closeDevice(emit)
    }

    private mutating func closeLink(_ emit: Emit) throws {
        guard let done = link.take() else { return }
        check(done)
        level?.add(done)
        summary?.links += 1
        summary?.copies += done.copies
        if summary?.newest?.seq != done.seq { summary?.newest = done }
        try emit(.link(done))
    }

    /// Compares a link with the link that it follows.
    private mutating func check(_ link: WalkedLink) {
        guard let before else { return }
        let followed = before.seq == link.seq - 1 ? before.member(link.record.prev) : before.lowest
        guard let followed else {
            level?.addStranger(link)
            return
        }
        if link.counter <= followed.highestCounter { level?.addDisorder(link, after: before.seq, followed) }
        if link.record.time < followed.time { summary?.addEarlierTime(link) }
    }

    private mutating func closeLevel(_ emit: Emit) throws {
        guard let done = level.take() else { return }
        if let before, before.seq + 1 < done.seq {
            let missing = (before.seq + 1)...(done.seq - 1)
            summary?.missing += missing.count
            let names = [before.names.first, done.names.first].compactMap(\.self)
            try report([ChainFault(kind: .gap, seqs: missing, names: names)], emit)
        }
        let faults = done.faults
        if faults.isEmpty {
            run = (run?.lowerBound ?? done.seq)...done.seq
        } else {
            try report(faults, emit)
        }
        summary?.last = done.seq
        before = done
    }

    private mutating func report(_ faults: [ChainFault], _ emit: Emit) throws {
        try closeRun(emit)
        summary?.faults += faults.count
        for fault in faults { try emit(.fault(fault)) }
    }

    private mutating func closeRun(_ emit: Emit) throws {
        if let run = run.take() { try emit(.run(run)) }
    }

    private mutating func closeDevice(_ emit: Emit) throws {
        guard summary != nil else { return }
        try closeLevel(emit)
        try closeRun(emit)
        if let summary = summary.take() { try emit(.end(summary)) }
        before = nil
    }
}

/// Collects the links of any number of bundles, and walks along their chains. Records and names are in temporary files,
/// so memory grows by half a byte for each link.
package final class ChainCollection {
    private let sort = RecordSort()
    private let names = TemporaryText()
    package private(set) var isEmpty = true

    package init() {}

    /// Adds a copy of a link.
    ///
    /// - Parameter file: The name of the bundle.
    /// - Throws: `output.unusable`, `io.failed`.
    package func add(_ record: LinkRecord, file: String) throws(BundleError) {
        var named = record
        named.name = LinkRecord.Name(offset: try names.append(file.utf8), length: file.utf8.count)
        try sort.add(named)
        isEmpty = false
    }

    /// Passes the events of all chains to `visit`, one device after the other. Call it once, after the last `add`.
    ///
    /// - Throws: `io.failed`, and the errors that `visit` throws.
    package func walk(_ visit: ChainWalk.Emit) throws(BundleError) {
        try native {
            var walk = ChainWalk()
            try sort.forEach { try walk.add($0, visit) }
            try walk.finish(visit)
        }
    }

    /// The name of a file that was passed to `add`.
    ///
    /// - Throws: `io.failed`.
    package func file(_ name: LinkRecord.Name) throws(BundleError) -> String {
        String(decoding: try names.read(name.length, at: name.offset), as: UTF8.self)
    }

    /// The names of the files of a fault.
    ///
    /// - Throws: `io.failed`.
    package func files(_ fault: ChainFault) throws(BundleError) -> [String] {
        try fault.names.map(file)
    }
}
