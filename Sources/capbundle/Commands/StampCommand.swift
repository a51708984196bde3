import ArgumentParser
import CaptureBundle
import CaptureNative
import CommandSupport
import SystemPackage

struct StampCommand: ManyNamesCommand {
    static let configuration = CommandConfiguration(
        commandName: "stamp",
        abstract: "Get time stamps, which show when the signatures of bundles existed.",
        usage: """
            capbundle stamp FILE... --with COMMAND [options]
            capbundle stamp --from0 --with COMMAND [options] < NAMES
            capbundle stamp FILE --query QUERY
            capbundle stamp FILE --query QUERY --reply REPLY [options]
            """,
        discussion: """
            Writes FILE.tsr beside each bundle: the answer of a time stamping authority (RFC 3161) that you trust. \
            capbundle opens no connection. COMMAND gets a query on standard input and writes the answer to standard \
            output. On a machine without a network, write the query to a file with --query, and take the answer with \
            --query and --reply. An answer is checked before it is written: if it is not good, the exit code is 4.

            Example:
              capbundle stamp cap.bundle --tsa-ca tsa.pem --with './ask-tsa'
              capbundle stamp cap.bundle --query cap.tsq
              curl -sSf -H 'Content-Type: application/timestamp-query' \\
                  --data-binary @cap.tsq https://tsa.example.org -o reply
              capbundle stamp cap.bundle --query cap.tsq --reply reply
            """)

    @Argument(help: ArgumentHelp("The bundles.", valueName: "file"), completion: .file())
    var names: [String] = []

    @Option(
        name: .customLong("with"),
        help: ArgumentHelp(
            "The command that asks the authority, for each bundle; it is ended after 60 seconds.", valueName: "command"),
        completion: .shellCommand("true"))
    var command: String?

    @Option(
        help: ArgumentHelp("The query to write, or with --reply the query of the answer.", valueName: "file"),
        completion: .file())
    var query: String?

    @Option(help: ArgumentHelp("The answer of the authority to the query.", valueName: "file"), completion: .file())
    var reply: String?

    @OptionGroup var list: NameOptions
    @OptionGroup var force: ForceOption
    @OptionGroup var authorities: AuthorityOptions
    @OptionGroup var trust: TrustOptions

    func validate() throws {
        try list.validate(names: names, of: "bundle")
        guard !names.contains("-") else { throw ValidationError("a time stamp is beside a file, and - is not one") }
        guard (command == nil) != (query == nil) else {
            throw ValidationError("give either --with COMMAND or --query FILE")
        }
        if reply != nil && query == nil { throw ValidationError("--reply needs --query FILE, the query that was sent") }
        if query != nil && names.count != 1 { throw ValidationError("--query is for one bundle") }
    }

    func run() throws {
        if let query, reply == nil { return try write(query) }
        let trustFile = try authorities.adding(to: try trust.file(warn: diagnostic.warning))
        let stamping = try Stamping(trust: trustFile, replaces: force.force)
        let ask = try answer()
        var statuses: Set<ExitStatus> = []
        try OrderedWork.run(
            threads: list.jobs ?? Thread.processors, next: NameList.bundles(names, isList: list.from0),
            work: { place in
                place.flatMap { place in
                    Result { () throws(BundleError) in
                        let path = FilePath(place.name)
                        return try stamping.stamp(path) { imprint throws(BundleError) in try ask(path, imprint) }
                    }
                }
            },
            deliver: { result throws(BundleError) in
                statuses.insert(try Self.say(result))
                return true
            })
        if statuses.isEmpty { throw NameOptions.noNames }
        let worst = ExitStatus.worst(statuses)
        if worst != .success { throw worst }
    }

    private func write(_ query: String) throws {
        let bytes = try Stamping.query(of: FilePath(file: names[0])).bytes
        let target = try TextTarget(force.place(query), reading: [FilePath(file: names[0])])
        try target.write(bytes)
        try target.finish()
        diagnostic.note("wrote \(query); send it as application/timestamp-query")
    }

    /// How the answer for a bundle is found.
    private func answer() throws(BundleError) -> Answer {
        if let command { return { path, imprint throws(BundleError) in try Self.ask(command, path, imprint) } }
        let (queryPath, replyPath) = (FilePath(query ?? ""), FilePath(reply ?? ""))
        let sent = try TimeStamp(path: queryPath)
        let reply = try TimeStamp(path: replyPath)
        return { path, imprint throws(BundleError) in
            guard let query = StampQuery(sent.bytes, imprint: imprint) else {
                throw BundleError(.inputUnreadable, "is not a query that was made for \(path)", file: queryPath)
            }
            return (reply, query.nonce)
        }
    }

    private typealias Answer =
        @Sendable (FilePath, Digest) throws(BundleError) -> (TimeStamp, nonce: [UInt8])

    private static func ask(
        _ command: String, _ path: FilePath, _ imprint: Digest
    ) throws(BundleError) -> (TimeStamp, nonce: [UInt8]) {
        let query = try StampQuery(imprint: imprint)
        var shell = ShellCommand(command)
        (shell.input, shell.outputLimit, shell.showsErrors) = (query.bytes, TimeStamp.sizeLimit + 1, true)
        shell.seconds = 60
        let ended: String
        do throws(NativeError) {
            let (ending, output) = try shell.run()
            switch ending {
            case .code(0): return (TimeStamp(bytes: output), query.nonce)
            case .code(let code): ended = "ended with exit status \(code)"
            case .signal(let signal): ended = "was ended by signal \(signal)"
            case .late: ended = "had not ended after 60 seconds"
            }
        } catch {
            throw BundleError(.inputOutput, "the command cannot be run: \(error.text)", file: path)
        }
        throw BundleError(.inputOutput, "the command \(ended)", file: path)
    }

    private static func say(_ result: Result<Stamping.Outcome, BundleError>) throws(BundleError) -> ExitStatus {
        switch result {
        case .success(let outcome):
            let old = outcome.isOld ? ", as before" : ""
            try Output.line("\(Visible.text(outcome.path.string)): \(outcome.stamped.words)\(old)")
            return .success
        case .failure(let error):
            diagnostic.error(error)
            return ExitStatus(error)
        }
    }
}

/// The option `--tsa-ca`.
struct AuthorityOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A PEM file with certificates of time stamping authorities to trust, beside those of the trust file.",
            valueName: "file"),
        completion: .file())
    var tsaCa: String?

    /// The trust file with the certificates.
    func adding(to trust: TrustFile) throws(BundleError) -> TrustFile {
        guard let tsaCa else { return trust }
        var trust = trust
        try trust.append(certificates: FilePath(file: tsaCa))
        return trust
    }
}

extension StampedTime {
    /// The finding in words.
    var words: String { "existed at \(time), says \(Visible.text(authority))" }

    var json: JSONValue {
        .members(["accuracy_ms": .integer(accuracy), "authority": .string(authority), "time": .text(time)])
    }
}
