/// Builds the bytes that are signed (Spec/capture-bundle.md section 9).
package enum SigningInput {
    /// The DSSE payload type of a version 1 manifest.
    static let manifestType = "application/vnd.capture-bundle.manifest+json;version=1"

    /// The DSSE pre-authentication encoding of the manifest's bytes.
    static func clientData(manifest: [UInt8]) -> [UInt8] {
        Array("DSSEv1 \(manifestType.utf8.count) \(manifestType) \(manifest.count) ".utf8) + manifest
    }

    /// SHA-256(authenticatorData ‖ SHA-256(clientData)). This is the message of the ECDSA signature, which hashes it
    /// again.
    package static func nonce(authenticatorData: [UInt8], clientData: [UInt8]) throws(BundleError) -> [UInt8] {
        try Digest.of(authenticatorData + Digest.of(clientData).bytes).bytes
    }
}
