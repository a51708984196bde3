import CaptureNative

extension BundleError.Code {
    static let stampNonce = Self("stamp.nonce")
    static let stampEncoding = Self("stamp.encoding")
    static let stampStatus = Self("stamp.status")
    static let stampToken = Self("stamp.token")
    static let stampImprint = Self("stamp.imprint")
    static let stampSignature = Self("stamp.signature")
    static let stampUnsupported = Self("stamp.unsupported")
    static let stampName = Self("stamp.name")
    static let stampUntrusted = Self("stamp.untrusted")
    static let stampRevoked = Self("stamp.revoked")
    static let stampWindow = Self("stamp.window")
    static let stampClaim = Self("stamp.claim")
}

/// Checks a time stamp: rules S0 to S9 (Spec/time-stamps.md section 3).
struct StampCheck {
    let stamp: TimeStamp
    let authorities: [TrustedAuthorityLine]

    private static let longestAccuracy = 86_400_000
    private static let claimTolerance = 5 * 60_000

    /// - Parameters:
    ///   - report: The report of a sound bundle.
    ///   - isRequired: Whether a fault of the stamp is a fault of the bundle, instead of a warning.
    /// - Throws: `trust.file` if a line of an authority has no certificate.
    func run(on report: inout VerificationReport, isRequired: Bool) throws(BundleError) {
        guard let manifest = report.manifest, let imprint = report.assertionSHA256 else { return }
        do {
            let stamped = try time(imprint: imprint, capturedAt: manifest.capturedAt)
            report.stamp = stamped
            if !stamped.isNamed {
                report.warnings.append(
                    BundleError(.stampName, "the signer's certificate lacks the name of the TSA in the time stamp"))
            }
        } catch {
            guard error.verdict != nil else { throw error }
            if isRequired { report.faults.append(error) } else { report.warnings.append(error) }
        }
        report.checks.append(.init(name: "stamp", outcome: report.stamp == nil ? .failed : .passed))
    }

    /// What the stamp says, if it is good.
    ///
    /// - Parameter capturedAt: The time that the device claims; nil leaves S9 out.
    /// - Throws: The first fault, or `trust.file`.
    func time(imprint: Digest, capturedAt: CaptureTime?) throws(BundleError) -> StampedTime {
        let token = try token()
        let content = try native { try token.content() }
            .mapError { BundleError(.stampToken, "the time stamp is wrong: \($0.reason)") }.get()
        let moment = try Moment(content)
        guard let hash = content.sha256 else {
            throw BundleError(.stampImprint, "the time stamp is not over a SHA-256")
        }
        guard hash == imprint.bytes else {
            throw BundleError(
                .stampImprint,
                "the time stamp is for another signature: it has the SHA-256 \(Hex.encode(hash)), expected \(imprint)")
        }
        if let nonce = stamp.nonce, content.nonce != nonce {
            throw BundleError(.stampNonce, "the time stamp answers another query: the nonce differs")
        }
        let name = try authority(token, moment)
        let isNamed = try native { try token.namesItsSigner() }
        let stamped = StampedTime(time: moment.time, margin: moment.accuracy, authority: name, isNamed: isNamed)
        if let capturedAt, capturedAt.milliseconds > stamped.latest + Self.claimTolerance {
            throw BundleError(
                .stampClaim,
                "\(name) says that the signature existed at \(moment.time), but the device claims \(capturedAt)")
        }
        return stamped
    }

    /// S1 and S2.
    private func token() throws(BundleError) -> TimeStampToken {
        guard stamp.bytes.count <= TimeStamp.sizeLimit else {
            throw BundleError(.stampEncoding, "the time stamp has more than \(TimeStamp.sizeLimit) bytes")
        }
        guard let response = TimeStampResponse(der: stamp.bytes) else {
            throw BundleError(.stampEncoding, "the time stamp is not the DER of one TimeStampResp")
        }
        guard response.status <= 1, let der = response.token else {
            let without = response.token == nil ? " and without a token" : ""
            let said = response.text.map { ": \($0.cut(to: 200))" } ?? ""
            throw BundleError(
                .stampStatus, "the authority answered with status \(response.status)\(without)\(said)")
        }
        guard let token = try (native { try TimeStampToken(der: der) }) else {
            throw BundleError(.stampEncoding, "the token of the time stamp is not the DER of a CMS message")
        }
        return token
    }

    /// S5 to S8: the name of the line that accepts the stamp.
    private func authority(_ token: TimeStampToken, _ moment: Moment) throws(BundleError) -> String {
        let lines = try native { try authorities.map { (line: $0, certificate: try $0.parsed()) } }
        if let fault = try (native { try token.signatureFault(knowing: lines.map(\.certificate)) }) {
            let code: BundleError.Code = fault.isUnsupported ? .stampUnsupported : .stampSignature
            let verdict = fault.isUnsupported ? "cannot be judged" : "is wrong"
            throw BundleError(code, "the time stamp \(verdict): \(fault.reason)")
        }
        // Whoever shows the stamp chooses which certificate of a key is in it, and can write its signature in another way.
        let revoked = try Self.keys(of: lines.filter(\.line.isRevoked).map(\.certificate))
        var reason = lines.isEmpty ? "no time stamping authority is trusted" : nil
        var refused: BundleError?
        for (line, certificate) in lines {
            let chain = try native { try token.chain(to: certificate, at: moment.seconds) }
            switch chain {
            case .failure(let refusal):
                reason = reason ?? "the time stamp has no certificate chain to a trusted authority: \(refusal.reason)"
            case .success(let chain):
                if try Self.keys(of: chain).contains(where: revoked.contains) {
                    refused =
                        refused
                        ?? BundleError(
                            .stampRevoked,
                            "the time stamp leads to the authority \(line.name), and a key of the chain is revoked")
                } else if let after = line.validAfter, moment.earliest < after.milliseconds {
                    refused = BundleError(
                        .stampWindow,
                        "the time stamp is from \(moment.time), but \(line.name) is trusted only from \(after)")
                } else if let before = line.validBefore, moment.latest >= before.milliseconds {
                    refused = BundleError(
                        .stampWindow,
                        "the time stamp is from \(moment.time), but \(line.name) is trusted only until \(before)")
                } else {
                    return line.name
                }
            }
        }
        throw refused
            ?? BundleError(.stampUntrusted, reason ?? "the time stamp has no certificate chain to a trusted authority")
    }

    private static func keys(of certificates: [Certificate]) throws(BundleError) -> [[UInt8]] {
        try native { try certificates.map { try $0.publicKey() } }
    }

    /// The time of a stamp: S3.
    private struct Moment {
        /// T, rounded up to milliseconds.
        let time: CaptureTime
        /// T, rounded down to milliseconds.
        private let floor: Int
        let accuracy: Int

        var earliest: Int { floor - accuracy }
        var latest: Int { time.milliseconds + accuracy }
        var seconds: Int { (floor - (floor % 1000 + 1000) % 1000) / 1000 }

        init(_ content: TimeStampToken.Content) throws(BundleError) {
            guard let text = content.time, let time = CaptureTime(text, rounding: .up),
                let floor = CaptureTime(text)
            else {
                throw BundleError(
                    .stampToken, "the time of the time stamp is not a GeneralizedTime in UTC with at most 9 decimals")
            }
            (self.time, self.floor) = (time, floor.milliseconds)
            let parts = content.accuracy.map { $0.map { Int(clamping: $0) } ?? -1 }
            let limits = [StampCheck.longestAccuracy / 1000, 999, 999]
            guard zip(parts, limits).allSatisfy({ (0...$1).contains($0) }) else {
                throw BundleError(.stampToken, "the accuracy of the time stamp is out of range")
            }
            accuracy = parts.isEmpty ? 0 : parts[0] * 1000 + parts[1] + (parts[2] > 0 ? 1 : 0)
            guard accuracy <= StampCheck.longestAccuracy else {
                throw BundleError(.stampToken, "the accuracy of the time stamp is more than a day")
            }
        }
    }
}
