import ArgumentParser
import CaptureBundle
import CommandSupport

struct ChainCommand: ManyNamesCommand {
    static let configuration = CommandConfiguration(
        commandName: "chain",
        abstract: "Find missing captures and wrong orders in the chain of each device.",
        usage: """
            capbundle chain FILE|FOLDER... [options]
            capbundle chain --from0 [options] < NAMES
            """,
        discussion: """
            A capture that was packed with a chain has a number and names the capture before it. This command puts \
            the captures of each device in order and finds missing numbers, two captures with one number, and \
            captures that were signed in another order. Signatures are checked, contents are not: use "capbundle \
            verify" for them. It searches folders for bundles in the same way as "capbundle report".

            Exit codes: 0 no fault, 4 a fault in a chain, 1 signature wrong, 2 not a well-formed bundle, 66 a file \
            that cannot be read. The worst result of all files and chains decides. The newest captures can be missing \
            without a trace.
            """,
        example: [
            "capbundle chain archive",
            "capbundle chain --json archive | jq 'select(.fault_count > 0)'",
            "find archive -name '*.bundle' -print0 | capbundle chain --from0",
        ])

    @Argument(
        help: ArgumentHelp("The bundles or folders, or - for a bundle on standard input.", valueName: "file"),
        completion: .file())
    var names: [String] = []

    @Flag(name: [.short, .long], help: "Print nothing on standard output; the exit code gives the result.")
    var quiet = false

    @OptionGroup var list: NameOptions
    @OptionGroup var format: JSONOption
    @OptionGroup var trust: TrustOptions

    func validate() throws {
        try list.validate(names: names, of: "bundle or folder (- for a pipe)")
    }

    func run() throws {
        let devices = DeviceNames(try trust.file(warn: diagnostic.warning))
        let chains = ChainCollection()
        let page = quiet ? nil : try ChainRendering(isJSON: format.json, devices, chains)
        var counts = try read(into: chains, page)
        try chains.walk { event in
            switch event {
            case .begin: counts.devices += 1
            case .end(let summary): counts.faults += summary.faults
            default: break
            }
            try page?.add(event)
        }
        try page?.finish(counts)
        try counts.status.require()
    }

    /// Reads the heads of all bundles.
    private func read(into chains: ChainCollection, _ page: ChainRendering?) throws -> ChainCounts {
        let found = BundleNames(names, isList: list.from0)
        let progress = Progress("bundle", total: nil, isWanted: !quiet)
        defer { progress.end() }
        var counts = ChainCounts()
        try ChainHead.readAll(threads: list.jobs, next: found.next) { head in
            counts.bundles += 1
            progress.advance(bytes: 0)
            switch head.finding {
            case .link(let record):
                counts.copies += 1
                try chains.add(record, file: head.file)
            case .noLink: counts.withoutLink += 1
            case .faulty(let faults):
                counts.faulty += 1
                let verdict = Verdict.worst(of: faults)
                counts.statuses.insert(ExitStatus(verdict))
                try progress.around { try page?.add(head.file, faults: faults, verdict) }
            case .unreadable(let error):
                counts.unreadable += 1
                counts.statuses.insert(ExitStatus(error))
                try progress.around {
                    diagnostic.error(error)
                    try page?.add(head.file, error)
                }
            }
        }
        progress.end()
        if counts.bundles == 0 { throw NameOptions.noNames }
        if !quiet { found.reportLeftOut(diagnostic, command: "capbundle chain --from0") }
        return counts
    }
}
