/// A TimeStampReq (RFC 3161 section 2.4.1) for a SHA-256, without a policy and extensions, that asks for certificates.
package enum TimeStampRequest {
    package static func der(sha256 imprint: [UInt8], nonce: [UInt8]) -> [UInt8] {
        // SHA-256 without parameters is allowed too, but servers expect the NULL that other tools write.
        let sha256: [UInt8] = [0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01, 0x05, 0x00]
        let hash = DER.sequence(DER.sequence(sha256) + DER.element(DER.octetString, imprint))
        let certReq: [UInt8] = [0x01, 0x01, 0xff]
        return DER.sequence(DER.element(DER.integer, [1]) + hash + DER.element(DER.integer, nonce) + certReq)
    }

    /// The contents of the nonce, in a request as `der` writes it; nil if there is none.
    package static func nonce(_ der: [UInt8]) -> [UInt8]? {
        guard let parts = DER.sequence(der[...]), parts.count == 4 else { return nil }
        return Array(parts[2].contents)
    }
}
