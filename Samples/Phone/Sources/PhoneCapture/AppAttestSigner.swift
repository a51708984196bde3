// Apple's compilers have never built this file; README.md says what was tried.
#if canImport(DeviceCheck)
    import DeviceCheck
    import Foundation

    /// Signs manifests with a key of App Attest.
    public struct AppAttestSigner: ManifestSigner {
        public let publicKey: Data
        private let keyID: String

        /// - Parameters:
        ///   - keyID: What `DCAppAttestService.generateKey` returned for this key, which is attested by now.
        ///   - publicKey: The 65 bytes of the public key in the attestation.
        public init(keyID: String, publicKey: Data) { (self.keyID, self.publicKey) = (keyID, publicKey) }

        public func assertion(clientDataHash: Data) async throws -> Data {
            try await DCAppAttestService.shared.generateAssertion(keyID, clientDataHash: clientDataHash)
        }
    }
#endif
