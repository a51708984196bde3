package import CaptureBundle

/// The SHA-256 of the upload body of a bundle (Spec/upload.md section 2.1), which a signed request needs.
///
/// The hash is computed once, at push or at the first signed try. `form` records how the body was made, so that a
/// version that makes another body does not sign with this hash.
package struct BodyHash: Hashable, Sendable {
    package let sha256: Digest
    /// The index, from 0, of the boundary that the body uses, among those that the manifest gives.
    package let candidate: Int

    package init(sha256: Digest, candidate: Int) {
        self.sha256 = sha256
        self.candidate = candidate
    }

    /// Describes how the body is made: profile, version and boundary, such as `capture/1/0`.
    package var form: String { "\(Self.made)/\(candidate)" }

    /// Reads a stored hash. Returns nil if this version does not make a body of that form.
    package init?(sha256: Digest, form: String) {
        let parts = form.pieces(by: "/", keepsEmpty: true)
        guard parts.count == 3, "\(parts[0])/\(parts[1])" == Self.made, let candidate = WholeNumber.parse(parts[2])
        else { return nil }
        self.init(sha256: sha256, candidate: candidate)
    }

    private static let made = "\(BodyLayout.profile)/\(BodyLayout.version)"
}
