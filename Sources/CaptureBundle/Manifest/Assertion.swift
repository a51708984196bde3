package import CaptureNative

extension BundleError.Code {
    static let assertionEncoding = Self("assertion.encoding")
    static let assertionDER = Self("assertion.der")
    static let assertionAuthData = Self("assertion.authdata")
    static let assertionFlags = Self("assertion.flags")
    static let assertionLowS = Self("assertion.low_s")
    static let assertionCounter = Self("assertion.counter")
    package static let assertionSignature = Self("assertion.signature")
}

/// The signature over a manifest, in the form of an Apple App Attest assertion (Spec/capture-bundle.md section 9).
package struct Assertion: Sendable {
    package let authenticatorData: AuthenticatorData
    let signature: ECDSASignature

    private static let signatureName = "signature"
    private static let authenticatorDataName = "authenticatorData"

    /// Signs a manifest with a disk key.
    package init(signing manifest: [UInt8], key: P256PrivateKey, counter: UInt32) throws(BundleError) {
        authenticatorData = AuthenticatorData(diskKeyCounter: counter)
        let nonce = try SigningInput.nonce(
            authenticatorData: authenticatorData.bytes, clientData: SigningInput.clientData(manifest: manifest))
        signature = try native { try key.sign(nonce) }
    }

    /// Signs client data in the form that RealityCam checks (Spec/upload.md section 6.2): the message is hashed once. For
    /// the assertion of a bundle it is hashed twice.
    package init(
        realityCam clientData: [UInt8], authenticatorData: AuthenticatorData, key: P256PrivateKey
    ) throws(BundleError) {
        self.authenticatorData = authenticatorData
        let message = authenticatorData.bytes + (try Digest.of(clientData).bytes)
        signature = try native { try key.sign(message) }
    }

    /// Whether `key` made this signature over `clientData` in the form that RealityCam checks.
    package func verifies(realityCam clientData: [UInt8], key: P256PublicKey) throws(BundleError) -> Bool {
        let message = authenticatorData.bytes + (try Digest.of(clientData).bytes)
        return try native { try key.verifies(signature, message: message) }
    }

    /// Parses `assertion.cbor`; `faults` then checks the remaining rules.
    ///
    /// - Throws: An error if A1 or A2 is violated or the authenticator data is too short (A3).
    package init(decoding bytes: [UInt8]) throws(BundleError) {
        var reader = CBORReader(bytes)
        guard reader.head(.map) == 2, reader.text() == Self.signatureName, let der = reader.byteString(),
            reader.text() == Self.authenticatorDataName, let data = reader.byteString(), reader.isAtEnd
        else {
            throw BundleError(.assertionEncoding, "is not the CBOR map with signature and authenticatorData")
        }
        let signature = try native { try ECDSASignature(der: der) }
        guard let signature else {
            throw BundleError(.assertionDER, "the signature is not DER with two integers in the allowed range")
        }
        self.signature = signature
        authenticatorData = try AuthenticatorData(data)
    }

    /// The violations of the rules for the kind of key: A3 to A6.
    var faults: [BundleError] {
        var faults = authenticatorData.faults
        if authenticatorData.kind == .diskKey && !signature.isLowS {
            faults.append(BundleError(.assertionLowS, "the signature's s is above half the group order"))
        }
        return faults
    }

    /// The bytes of `assertion.cbor`.
    package func encode() -> [UInt8] {
        let der = signature.der
        let data = authenticatorData.bytes
        return CBORReader.encodeHead(.map, 2)
            + CBORReader.encodeHead(.text, Self.signatureName.utf8.count) + Self.signatureName.utf8
            + CBORReader.encodeHead(.bytes, der.count) + der
            + CBORReader.encodeHead(.text, Self.authenticatorDataName.utf8.count) + Self.authenticatorDataName.utf8
            + CBORReader.encodeHead(.bytes, data.count) + data
    }

    /// Whether the device signed the manifest with this assertion: rules A3 to A7.
    package func isValid(for manifest: [UInt8], of device: DevicePoint) throws(BundleError) -> Bool {
        let key = try native { try P256PublicKey(point: device.bytes) }
        guard let key, faults.isEmpty else { return false }
        return try verifies(clientData: SigningInput.clientData(manifest: manifest), key: key)
    }

    /// Whether `key` made the signature over `clientData` and the authenticator data: rule A7.
    package func verifies(clientData: [UInt8], key: P256PublicKey) throws(BundleError) -> Bool {
        let nonce = try SigningInput.nonce(authenticatorData: authenticatorData.bytes, clientData: clientData)
        return try native { try key.verifies(signature, message: nonce) }
    }
}
