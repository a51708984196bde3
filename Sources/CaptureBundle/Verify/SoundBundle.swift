extension VerificationReport {
    /// Whether the contents and the signature are right. It does not check trust.
    package var isSound: Bool { ![.malformed, .altered].contains(verdict) }

    /// Refuses a file whose contents or signature are wrong, or that is not a bundle. It does not check trust.
    ///
    /// - Throws: The worst fault.
    package func requireSound(_ file: String) throws(BundleError) {
        for verdict in [Verdict.malformed, .altered] {
            guard let fault = faults.first(where: { $0.verdict == verdict }) else { continue }
            let named = fault.about(file: file)
            if file == "-" { throw bytes == 0 ? named.with(.emptyPipe) : named }
            // "verify" says no more about a file that is not a bundle at all.
            throw fault.code == .containerMagic ? named : named.with(.unsound)
        }
    }
}

extension Verifier {
    /// A verifier for callers that need to know whether a bundle is sound, but not whose it is.
    package static let soundness = Verifier(trust: TrustFile(), policy: VerificationPolicy(allowsWithheld: true))
}
