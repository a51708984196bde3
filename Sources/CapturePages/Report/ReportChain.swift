package import CaptureBundle

/// The drawing of a device's chain: its links in order, gaps and faults. Each kind of mark has a shape and words of its
/// own, so colour is not needed to tell them apart.
package struct ReportChain: Sendable {
    private enum Mark {
        case links(ClosedRange<Int>)
        case missing(ClosedRange<Int>)
        case fork(Int)
        case order(Int)

        var last: Int {
            switch self {
            case .links(let seqs), .missing(let seqs): seqs.upperBound
            case .fork(let seq), .order(let seq): seq
            }
        }

        /// The number of marks if each link has its own.
        var count: Int { if case .links(let seqs) = self { seqs.count } else { 1 } }
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
    package mutating func add(run: ClosedRange<Int>) { add(.links(run)) }

    package mutating func add(_ fault: ChainFault, files: [String]) {
        if faults.count < Self.faultLimit {
            faults.append("\(fault.message(files)) [\(fault.code.rawValue)]")
        } else {
            leftOutFaults += 1
        }
        switch fault.kind {
        case .gap: add(.missing(fault.seqs))
        // A link with several faults has one mark.
        case _ where marks.last?.last == fault.seqs.upperBound: break
        case .twins, .stranger: add(.fork(fault.seqs.lowerBound))
        case .order: add(.order(fault.seqs.lowerBound))
        }
    }

    private mutating func add(_ mark: Mark) {
        if marks.count < Self.markLimit { marks.append(mark) } else { leftOutMarks += 1 }
    }

    /// The title, the drawing and the faults.
    ///
    /// - Parameter remarks: The lines below the drawing.
    package func html(_ remarks: [String]) -> HTML {
        let alone = leftOutMarks == 0 && marks.reduce(0) { $0 + min($1.count, Self.markLimit + 1) } <= Self.markLimit
        let drawn = marks.flatMap { mark in
            if alone, case .links(let seqs) = mark { return seqs.map { Self.html(.links($0...$0)) } }
            return [Self.html(mark)]
        }
        let rest: HTML = "<li class=\"more\">and \(Rounded.grouped(leftOutMarks)) more</li>\n"
        return """
            <h3>\(title)</h3>
            <ol class="chain" aria-label="Links in order">
            \(drawn)\(leftOutMarks > 0 ? rest : "")</ol>
            \(findings)\(remarks.map { "<p class=\"note\">\($0)</p>\n" as HTML })
            """
    }

    private static func html(_ mark: Mark) -> HTML {
        switch mark {
        case .links(let seqs): "<li class=\"good\">\(numbers(seqs))</li>\n"
        case .missing(let seqs): "<li class=\"missing neutral\">\(numbers(seqs)) missing</li>\n"
        case .fork(let seq): "<li class=\"fork bad\">\(Tone.bad.sign) \(seq) fork</li>\n"
        case .order(let seq): "<li class=\"order doubtful\">\(Tone.doubtful.sign) \(seq) wrong order</li>\n"
        }
    }

    private static func numbers(_ seqs: ClosedRange<Int>) -> HTML {
        seqs.count == 1 ? "\(seqs.lowerBound)" : "\(seqs.lowerBound) to \(seqs.upperBound)"
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
