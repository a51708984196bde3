package import CaptureBundle

/// The drawing of a device's chain: its links in order, gaps and faults. Each kind of mark has a shape and words of its
/// own, so colour is not needed to tell them apart.
package struct ReportChain: Sendable {
    private struct Mark {
        enum Kind { case links, missing, fork, order }

        let kind: Kind
        let seqs: ClosedRange<Int>

        /// The number of marks if each link has its own.
        var count: Int { kind == .links ? seqs.count : 1 }
    }

    private let title: HTML
    private var marks: [Mark] = []
    private var leftOutMarks = 0
    private var faults: [String] = []
    private var leftOutFaults = 0

    /// The maximum number of marks in a drawing.
    private static let markLimit = 200
    private static let faultLimit = 20

    /// - Parameter title: The name and the key id of the device.
    package init(title: HTML) { self.title = title }

    /// Adds links that follow each other without a fault.
    package mutating func add(run: ClosedRange<Int>) { add(.links, run) }

    package mutating func add(_ fault: ChainFault, files: [String]) {
        if faults.count < Self.faultLimit {
            faults.append("\(fault.message(files)) [\(fault.code.rawValue)]")
        } else {
            leftOutFaults += 1
        }
        let first = fault.seqs.lowerBound
        switch fault.kind {
        case .gap: add(.missing, fault.seqs)
        // A link with several faults has one mark.
        case _ where marks.last?.seqs.upperBound == fault.seqs.upperBound: break
        case .twins, .stranger: add(.fork, first...first)
        case .order: add(.order, first...first)
        }
    }

    private mutating func add(_ kind: Mark.Kind, _ seqs: ClosedRange<Int>) {
        if marks.count < Self.markLimit { marks.append(Mark(kind: kind, seqs: seqs)) } else { leftOutMarks += 1 }
    }

    /// The title, the drawing and the faults.
    ///
    /// - Parameter remarks: The lines below the drawing.
    package func html(_ remarks: [String]) -> HTML {
        let alone = leftOutMarks == 0 && marks.reduce(0) { $0 + min($1.count, Self.markLimit + 1) } <= Self.markLimit
        let drawn = marks.flatMap { mark in
            if alone, mark.kind == .links { return mark.seqs.map { Self.html(.links, $0...$0) } }
            return [Self.html(mark.kind, mark.seqs)]
        }
        let rest: HTML = "<li class=\"more\">and \(Rounded.grouped(leftOutMarks)) more</li>\n"
        return """
            <h3>\(title)</h3>
            <ol class="chain" aria-label="Links in order">
            \(drawn)\(leftOutMarks > 0 ? rest : "")</ol>
            \(findings)\(remarks.map { "<p class=\"note\">\($0)</p>\n" as HTML })
            """
    }

    private static func html(_ kind: Mark.Kind, _ seqs: ClosedRange<Int>) -> HTML {
        let numbers: HTML = seqs.count == 1 ? "\(seqs.lowerBound)" : "\(seqs.lowerBound) to \(seqs.upperBound)"
        return switch kind {
        case .links: "<li class=\"good\">\(numbers)</li>\n"
        case .missing: "<li class=\"missing neutral\">\(numbers) missing</li>\n"
        case .fork: "<li class=\"fork bad\">\(Tone.bad.sign) \(numbers) fork</li>\n"
        case .order: "<li class=\"order doubtful\">\(Tone.doubtful.sign) \(numbers) wrong order</li>\n"
        }
    }

    private var findings: HTML? {
        let more: [HTML] = leftOutFaults > 0 ? ["and \(Rounded.grouped(leftOutFaults)) more"] : []
        return Tone.bad.findings(faults.map { "\($0)" } + more)
    }

    /// The markup before the first chain and after the last.
    package static let opening: HTML = """
        <section aria-labelledby="chains">
        <h2 id="chains">Chains</h2>
        <p class="lead">Each row shows the captures of one device in the order of their numbers in the chain.</p>

        """
    package static let closing: HTML = "</section>\n"
}
