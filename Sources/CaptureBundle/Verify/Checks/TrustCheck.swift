extension BundleError.Code {
    public static let trustUnknown = Self("trust.unknown")
    static let trustRevoked = Self("trust.revoked")
    static let trustLevel = Self("trust.level")
    static let trustRPID = Self("trust.rpid")
    static let trustNotYetValid = Self("trust.not_yet_valid")
    static let trustExpired = Self("trust.expired")
}

/// Checks whether the trust file trusts the device: rules T1 to T6 (Spec/capture-bundle.md section 10).
struct TrustCheck {
    let trust: TrustFile

    /// - Parameter report: The report of a sound bundle.
    func run(on report: inout VerificationReport) {
        guard let faults = check(&report) else { return }
        report.faults += faults
        report.checks.append(.init(name: "trust", outcome: faults.isEmpty ? .passed : .failed))
    }

    /// Adds the signer's name to the report, unless a trust rule would fail.
    ///
    /// - Parameter report: The report of a damaged bundle whose manifest is genuine.
    func name(on report: inout VerificationReport) {
        if check(&report) != [] { report.trustedDevice = nil }
    }

    private func check(_ report: inout VerificationReport) -> [BundleError]? {
        guard let manifest = report.manifest, let data = report.authenticatorData else { return nil }
        let lines = trust.devices.filter { $0.point == manifest.device }
        guard !lines.isEmpty else {
            return [BundleError(.trustUnknown, "the device key \(manifest.device.keyID) is not in the trust file")]
        }
        if let fault = revocation(lines, &report) { return [fault] }
        let checked = lines.map { ($0, Self.faults(of: $0, manifest, data)) }
        let decisive = checked.first { $0.1.isEmpty } ?? checked[0]
        report.trustedDevice = .init(name: decisive.0.name, level: decisive.0.level)
        return decisive.1
    }

    /// T6. A stamp helps only if each line that revokes the key says since when.
    private func revocation(_ lines: [TrustedDeviceLine], _ report: inout VerificationReport) -> BundleError? {
        guard let revoked = lines.first(where: \.isRevoked) else { return nil }
        report.trustedDevice = .init(name: revoked.name, level: revoked.level)
        if let line = lines.first(where: { $0.revocation == .always }) {
            return BundleError(.trustRevoked, "the key of \(line.name) is revoked")
        }
        guard let earliest = lines.compactMap({ $0.revocation?.time }).min() else { return nil }
        if let stamp = report.stamp, stamp.latest < earliest.milliseconds {
            report.warnings.append(
                BundleError(
                    .trustRevoked,
                    "the key of \(revoked.name) is revoked from \(earliest) on; only the time stamp shows that it signed earlier"
                ))
            return nil
        }
        let missing = report.stamp == nil ? "no good time stamp shows that" : "the time stamp does not show that"
        return BundleError(
            .trustRevoked, "the key of \(revoked.name) is revoked from \(earliest) on, and \(missing) it signed earlier"
        )
    }

    private static func faults(
        of line: TrustedDeviceLine, _ manifest: Manifest, _ data: AuthenticatorData
    ) -> [BundleError] {
        var faults: [BundleError] = []
        let kind: AuthenticatorData.Kind = line.level == .appleAppAttest ? .apple : .diskKey
        if data.kind != kind {
            let found = data.kind == .diskKey ? "a disk key" : "an Apple key"
            faults.append(
                BundleError(.trustLevel, "\(line.name) is trusted as \(line.level.rawValue), but \(found) signed"))
        }
        if let rpID = line.rpID, rpID.hash != data.rpIDHash {
            faults.append(BundleError(.trustRPID, "signed by an app other than \(rpID.text)"))
        }
        if let after = line.validAfter, manifest.capturedAt < after {
            faults.append(
                BundleError(
                    .trustNotYetValid, "claims \(manifest.capturedAt), but \(line.name) is trusted only from \(after)"))
        }
        if let before = line.validBefore, manifest.capturedAt >= before {
            faults.append(
                BundleError(
                    .trustExpired, "claims \(manifest.capturedAt), but \(line.name) is trusted only until \(before)"))
        }
        return faults
    }
}
