import CaptureNative

/// A time stamping authority that a command of the user asks.
///
/// ```swift
/// let authority = try StampingAuthority(command: "./ask-tsa", trust: trust)
/// let stamp = try authority.stamp(assertion)
/// ```
public struct StampingAuthority: Sendable {
    private let command: String
    private let authorities: [TrustedAuthorityLine]

    /// - Parameters:
    ///   - command: A command of `/bin/sh`: it gets a query on standard input, and writes the answer to standard output.
    ///     It is ended after 60 seconds.
    ///   - trust: The authorities whose answers count.
    /// - Throws: `trust.file` if no authority is trusted, so that no answer could be good, or a line of one has no
    ///   certificate.
    public init(command: String, trust: TrustFile) throws(BundleError) {
        (self.command, authorities) = (command, trust.authorities)
        guard !authorities.isEmpty else { throw BundleError(.trustFile, "no time stamping authority is trusted") }
        try trust.requireCertificates()
    }

    /// Gets a time stamp. It blocks.
    ///
    /// - Parameters:
    ///   - assertion: SHA-256 of `assertion.cbor`, which is `VerificationReport.assertionSHA256`.
    ///   - isStopped: Called several times a second; true ends the command.
    /// - Returns: An answer without the faults S0 to S8 (Spec/time-stamps.md section 3). S9 is about the bundle.
    /// - Throws: `io.failed` if the command fails, or the fault of the answer.
    public func stamp(
        _ assertion: Digest, isStopped: () -> Bool = { false }
    ) throws(BundleError) -> TimeStamp {
        let stamp = try StampQuery(imprint: assertion).send(command, isStopped: isStopped)
        _ = try StampCheck(stamp: stamp, authorities: authorities).time(imprint: assertion, capturedAt: nil)
        return stamp
    }
}

extension StampQuery {
    private static let seconds = 60.0

    /// Asks an authority with a command of the user. The answer is not checked.
    ///
    /// - Throws: `io.failed`.
    package func send(_ command: String, isStopped: () -> Bool = { false }) throws(BundleError) -> TimeStamp {
        var shell = ShellCommand(command)
        (shell.input, shell.outputLimit, shell.showsErrors) = (bytes, TimeStamp.sizeLimit + 1, true)
        shell.seconds = Self.seconds
        let (ending, output) = try native({ BundleError(.inputOutput, "the command cannot be run: \($0.text)") }) {
            try shell.run(isStopped: isStopped)
        }
        let ended: String
        switch ending {
        case .code(0): return TimeStamp(output, to: self)
        case .code(let code): ended = "ended with exit status \(code)"
        case .signal(let signal): ended = "was ended by signal \(signal)"
        case .late: ended = "had not ended after \(Int(Self.seconds)) seconds"
        }
        throw BundleError(.inputOutput, "the command \(ended)")
    }
}
