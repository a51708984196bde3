import CaptureNative
package import SystemPackage

/// Writes time stamps beside bundles. An answer is checked before its file is written.
package struct Stamping: Sendable {
    private let authorities: [TrustedAuthorityLine]
    private let replaces: Bool

    package struct Outcome: Sendable {
        package let path: FilePath
        package let stamped: StampedTime
        /// Whether the file was a good time stamp of the bundle already.
        package let isOld: Bool
    }

    /// - Parameter replaces: Whether an existing file is replaced.
    /// - Throws: `trust.file` if no authority is trusted, so that no answer could be good.
    package init(trust: TrustFile, replaces: Bool) throws(BundleError) {
        (authorities, self.replaces) = (trust.authorities, replaces)
        guard !authorities.isEmpty else {
            throw BundleError(.trustFile, "no time stamping authority is trusted", hints: [.trustAuthority])
        }
    }

    /// Makes a query for a bundle.
    ///
    /// - Throws: The worst fault if the bundle is not sound; `input.unreadable`.
    package static func query(of bundle: FilePath) throws(BundleError) -> StampQuery {
        try StampQuery(imprint: facts(bundle).imprint)
    }

    /// Writes the time stamp of a bundle.
    ///
    /// - Parameter answer: Returns the answer of the authority for SHA-256 of the assertion, and the nonce of its query.
    ///   It is not called if the bundle has a good time stamp.
    /// - Throws: The fault of the bundle or of the answer; what `answer` throws; `output.exists` and other failures of
    ///   writing.
    package func stamp(
        _ bundle: FilePath, answer: (Digest) throws(BundleError) -> (TimeStamp, nonce: [UInt8])
    ) throws(BundleError) -> Outcome {
        let (imprint, capturedAt) = try Self.facts(bundle)
        let path = TimeStamp.path(beside: bundle)
        func check(_ stamp: TimeStamp, _ nonce: [UInt8]?) throws(BundleError) -> StampedTime {
            do {
                return try StampCheck(stamp: stamp, authorities: authorities, nonce: nonce)
                    .time(imprint: imprint, capturedAt: capturedAt)
            } catch { throw error.about(file: bundle.string) }
        }
        if !replaces, FileStatus.exists(path) {
            guard let known = try? check(TimeStamp(path: path), nil) else { throw .exists(path) }
            return Outcome(path: path, stamped: known, isOld: true)
        }
        let place: OutputPlace = replaces ? .replacing(path) : .file(path)
        try place.examine()
        let (reply, nonce) = try answer(imprint)
        let stamped = try check(reply, nonce)
        let target = try OutputTarget(place)
        try target.write(reply.bytes)
        try target.commit()
        return Outcome(path: path, stamped: stamped, isOld: false)
    }

    private static func facts(_ bundle: FilePath) throws(BundleError) -> (imprint: Digest, capturedAt: CaptureTime) {
        let report = try Verifier.soundness.verify(BundleSource(file: bundle))
        try report.requireSound(bundle.string)
        guard let manifest = report.manifest, let imprint = report.assertionSHA256 else {
            throw BundleError(.internalFailure, "a sound bundle without an assertion", file: bundle)
        }
        return (imprint, manifest.capturedAt)
    }
}
