import CaptureNative

/// Checks the assertion of a bundle: rules A1 to A7 (Spec/capture-bundle.md section 9).
struct AssertionCheck {
    /// nil if the assertion is malformed. Then the signature is not checked.
    private(set) var authenticatorData: AuthenticatorData?
    /// A1 to A6.
    private(set) var formFaults: [BundleError] = []
    /// A7.
    private(set) var signatureFault: BundleError?

    private static let file = "assertion.cbor"

    /// - Parameter manifest: The decoded manifest of `head`.
    /// - Throws: An error only if OpenSSL fails.
    init(_ head: BundleReader.Head, _ manifest: Manifest) throws(BundleError) {
        let assertion: Assertion
        do {
            assertion = try Assertion(decoding: head.assertion)
        } catch {
            guard error.verdict != nil else { throw error }
            formFaults = [BundleError(error.code, error.message, entry: Self.file)]
            return
        }
        authenticatorData = assertion.authenticatorData
        formFaults = assertion.faults.map { BundleError($0.code, $0.message, entry: Self.file) }
        let clientData = SigningInput.clientData(manifest: head.manifest)
        let key = try native { try P256PublicKey.of(point: manifest.device.bytes) }
        if let key, try assertion.verifies(clientData: clientData, key: key) { return }
        signatureFault = BundleError(
            .assertionSignature, "the signature is not valid for the key that the manifest names", entry: Self.file)
    }

    var faults: [BundleError] { formFaults + (signatureFault.map { [$0] } ?? []) }
}
