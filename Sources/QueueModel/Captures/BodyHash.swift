package import CaptureBundle

/// The SHA-256 of the upload body of a bundle (Spec/upload.md section 2.1), as a signature needs it.
///
/// It is made once, at push or at the first try that is signed. It says how the body is made, so that a version that makes
/// another body does not sign with it.
package struct BodyHash: Hashable, Sendable {
    package let sha256: Digest
    /// Which of the boundaries of the manifest the body has, from 0.
    package let candidate: Int

    package init(sha256: Digest, candidate: Int) {
        self.sha256 = sha256
        self.candidate = candidate
    }

    /// How the body is made: profile, version, and boundary, such as `capture/1/0`.
    package var form: String { "\(Self.made)/\(candidate)" }

    /// nil for a form that this version does not make.
    package init?(sha256: Digest, form: String) {
        let parts = form.pieces(by: "/", keepsEmpty: true)
        guard parts.count == 3, "\(parts[0])/\(parts[1])" == Self.made, let candidate = WholeNumber.parse(parts[2])
        else { return nil }
        self.init(sha256: sha256, candidate: candidate)
    }

    private static let made = "\(BodyLayout.profile)/\(BodyLayout.version)"
}
