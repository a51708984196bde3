import SystemPackage

extension VerificationReport {
    /// Whether the contents and the signature are right. It does not check trust.
    package var isSound: Bool { ![.malformed, .altered].contains(verdict) }

    /// Refuses a file whose contents or signature are wrong, or that is not a bundle. It does not check trust.
    ///
    /// - Throws: The worst fault.
    package func requireSound(_ file: String) throws(BundleError) {
        for verdict in [Verdict.malformed, .altered] {
            guard let fault = faults.first(where: { $0.verdict == verdict }) else { continue }
            throw BundleError(
                fault.code, wording: fault.wording, file: file, entry: fault.entry, hints: hints(fault, file))
        }
    }

    private func hints(_ fault: BundleError, _ file: String) -> [Hint] {
        if file == "-" && bytes == 0 { return ["see what the command before the pipe printed; it wrote no bytes"] }
        // "verify" says no more about a file that is not a bundle at all.
        if file == "-" || fault.code == .containerMagic { return fault.hints }
        return [.verify(FilePath(file), .faults)]
    }
}

extension Verifier {
    /// A verifier for callers that need to know whether a bundle is sound, but not whose it is.
    package static let soundness = Verifier(trust: TrustFile(), policy: VerificationPolicy(allowsWithheld: true))
}
