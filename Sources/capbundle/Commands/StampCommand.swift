import ArgumentParser
import CaptureBundle
import CaptureNative
import CommandSupport
import Synchronization
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
            """,
        example: [
            "capbundle stamp cap.bundle --tsa-ca tsa.pem --with './ask-tsa'",
            "capbundle stamp cap.bundle --query cap.tsq",
            "curl -sSf -H 'Content-Type: application/timestamp-query' \\",
            "    --data-binary @cap.tsq https://tsa.example.org -o reply",
            "capbundle stamp cap.bundle --query cap.tsq --reply reply",
        ])

    @Argument(help: ArgumentHelp("The bundles.", valueName: "file"), completion: .file())
    var names: [String] = []

    @Option(
        name: .customLong("with"),
        "The command that asks the authority, for each bundle. It is ended after 60 seconds, and cannot ask you anything.",
        value: "command", completion: .shellCommand("true"))
    var command: String?

    @Option("The query to write, or with --reply the query of the answer.", value: "file", completion: .file())
    var query: String?

    @Option("The answer of the authority to the query.", value: "file", completion: .file())
    var reply: String?

    @OptionGroup var list: NameOptions
    @OptionGroup var force: ForceOption
    @Option(help: .stampingAuthorities, completion: .file())
    var tsaCa: String?

    @OptionGroup var trust: TrustOptions

    func validate() throws {
        try list.validate(names: names, of: "bundle")
        guard !names.contains("-") else { throw ValidationError("a time stamp is beside a file, and - is not one") }
        guard (command == nil) != (query == nil) else {
            throw ValidationError("give either --with COMMAND or --query FILE")
        }
        if reply != nil && query == nil { throw ValidationError("--reply needs --query FILE, the query that was sent") }
        if let query {
            guard names.count == 1 else { throw ValidationError("--query is for one bundle") }
            if query == "\(names[0]).tsr" {
                throw ValidationError("\(query) is the place of the time stamp, not of a query")
            }
        }
    }

    func run() throws {
        if let query, reply == nil { return try write(query) }
        let words = trust.words
        let trust = try trust.file(warn: diagnostic.warning).adding(certificates: tsaCa)
        guard trust.authorities.contains(where: { !$0.isRevoked }) else {
            throw BundleError(
                .trustFile, "no time stamping authority is trusted",
                advice: ["give its certificate: --tsa-ca FILE, or capbundle trust add NAME --tsa FILE\(words)"])
        }
        try trust.requireCertificates()
        // A command of ours must not outlive us, and has a process group of its own.
        let stop = Mutex<Int32?>(nil)
        if command != nil { StopSignals.watch { number in stop.withLock { $0 = number } } }
        let stamper = Stamper(
            verifier: Verifier(trust: trust, policy: VerificationPolicy(required: [.time], allowsWithheld: true)),
            replaces: force.force, answer: try answer { stop.withLock { $0 != nil } })
        var statuses: Set<ExitStatus> = []
        try OrderedWork.run(
            threads: list.jobs ?? Thread.processors,
            next: BundleNames(names, isList: list.from0, searchesFolders: false).next,
            work: { place in
                place.flatMap { place in
                    Result { () throws(BundleError) in try native { try stamper.stamp(FilePath(place.name)) } }
                }
            },
            deliver: { result in
                guard stop.withLock({ $0 }) == nil else { return false }
                statuses.insert(try Self.report(result))
                return true
            })
        if let signal = stop.withLock({ $0 }) { StopSignals.end(by: signal) }
        if statuses.isEmpty { throw NameOptions.noNames }
        try ExitStatus.worst(statuses).require()
    }

    private func write(_ query: String) throws {
        let bundle = FilePath(file: names[0])
        let bytes = try StampQuery(imprint: Stamper.imprint(of: bundle)).bytes
        let target = try OutputTarget(
            examining: force.place(query, besides: trust.files + (tsaCa.map { [FilePath(file: $0)] } ?? [])),
            reading: [bundle])
        try target.write(bytes)
        try target.commit()
        diagnostic.note("wrote \(query); send it as application/timestamp-query")
    }

    private func answer(_ isStopped: @escaping @Sendable () -> Bool) throws -> Stamper.Answer {
        if let command {
            return { path, imprint in
                let query = try StampQuery(imprint: imprint)
                do { return try query.send(command, isStopped: isStopped) } catch let error as BundleError {
                    throw error.about(file: path.string)
                }
            }
        }
        let queryPath = FilePath(query ?? "")
        let (sent, reply) = (try TimeStamp(path: queryPath), try TimeStamp(path: FilePath(reply ?? "")))
        return { path, imprint in
            guard let query = StampQuery(sent.bytes, imprint: imprint) else {
                throw BundleError(.inputUnreadable, "is not a query that was made for \(path)", file: queryPath)
            }
            return TimeStamp(reply.bytes, to: query)
        }
    }

    private static func report(_ result: Result<Stamper.Outcome, BundleError>) throws -> ExitStatus {
        switch result {
        case .success(let outcome):
            let old = outcome.isOld ? ", as before" : ""
            try Output.line("\(Visible.text(outcome.path.string)): \(outcome.stamped.words)\(old)")
            if let warning = outcome.warning { diagnostic.warning(warning) }
            return .success
        case .failure(let error):
            diagnostic.error(error)
            return ExitStatus(error)
        }
    }
}

/// Writes time stamps beside bundles. An answer is checked before its file is written.
private struct Stamper: Sendable {
    /// Asks the authority for the time stamp of a bundle, by SHA-256 of its assertion.
    typealias Answer = @Sendable (FilePath, Digest) throws -> TimeStamp

    struct Outcome: Sendable {
        let path: FilePath
        let stamped: StampedTime
        /// A finding with which the file is kept, such as `stamp.name`.
        let warning: BundleError?
        /// Whether the file was a good time stamp of the bundle already.
        let isOld: Bool
    }

    /// It requires a time stamp; what else it finds is ignored.
    let verifier: Verifier
    let replaces: Bool
    let answer: Answer

    func stamp(_ bundle: FilePath) throws -> Outcome {
        let imprint = try Self.imprint(of: bundle)
        let path = TimeStamp.path(beside: bundle)
        let place: OutputPlace = replaces ? .replacing(path) : .file(path)
        if let known = try known(bundle, path, exists: place.exists) { return known }
        try place.examine()
        // --force replaces a file, but never a bundle, which can be one of those to stamp.
        let there = try native({ .reading(path, $0) }) { try allowing(\.isMissing) { try FileKind(reading: path) } }
        guard there?.family != .bundle else {
            throw BundleError(.outputExists, "is a bundle, which no time stamp replaces", file: path)
        }
        let reply = try answer(bundle, imprint)
        let (stamped, warning) = try check(reply, bundle)
        let target = try OutputTarget(place)
        try target.write(reply.bytes)
        do { try target.commit() } catch {
            // Another process, or the same bundle under another name, can have been faster.
            guard error.code == .outputExists, let known = try known(bundle, path, exists: true) else { throw error }
            return known
        }
        return Outcome(path: path, stamped: stamped, warning: warning, isOld: false)
    }

    /// The good time stamp that exists already; nil if no file exists.
    ///
    /// - Throws: `output.exists` for a time stamp that is not good, with its fault; `input.unreadable`, `trust.file`.
    private func known(_ bundle: FilePath, _ path: FilePath, exists: Bool) throws -> Outcome? {
        guard exists, let stamp = try TimeStamp.beside(bundle) else { return nil }
        do {
            let (stamped, warning) = try check(stamp, bundle)
            return Outcome(path: path, stamped: stamped, warning: warning, isOld: true)
        } catch let error as BundleError {
            guard error.code.rawValue.hasPrefix("stamp.") else { throw error }
            throw BundleError(
                .outputExists, "already exists, and is not a good time stamp of \(bundle): \(error.message)",
                file: path, cause: .replaceable)
        }
    }

    private func check(_ stamp: TimeStamp, _ bundle: FilePath) throws -> (StampedTime, BundleError?) {
        let report = try verifier.verify(BundleSource(file: bundle), stamp: stamp)
        func ofStamp(_ errors: [BundleError]) -> BundleError? { errors.first { $0.code.rawValue.hasPrefix("stamp.") } }
        if let stamped = report.stamp { return (stamped, ofStamp(report.warnings)?.about(file: bundle.string)) }
        let fault = ofStamp(report.faults) ?? report.faults.first
        throw (fault ?? BundleError(.internalFailure, "a time stamp that was not checked")).about(file: bundle.string)
    }

    /// - Throws: The worst fault if the bundle is not sound; `input.unreadable`.
    static func imprint(of bundle: FilePath) throws -> Digest {
        let report = try Verifier.soundness.verify(BundleSource(file: bundle))
        try report.requireSound(bundle.string)
        guard let imprint = report.assertionSHA256 else {
            throw BundleError(.internalFailure, "a sound bundle without an assertion", file: bundle)
        }
        return imprint
    }
}

/// The option `--tsa-ca`.
extension ArgumentHelp {
    static let stampingAuthorities = ArgumentHelp(
        "A PEM file with certificates of time stamping authorities to trust, beside those of the trust file.",
        valueName: "file")
}

extension TrustFile {
    /// The trust file with the certificates of `--tsa-ca`.
    func adding(certificates file: String?) throws -> TrustFile {
        guard let file else { return self }
        var trust = self
        try trust.append(certificates: FilePath(file: file))
        return trust
    }
}

extension StampedTime {
    /// The finding in words.
    var words: String { "existed at \(time)\(accuracyText), says \(Visible.text(authority))" }

    var json: JSONValue {
        .members(["accuracy_ms": .integer(margin), "authority": .string(authority), "time": .text(time)])
    }
}
