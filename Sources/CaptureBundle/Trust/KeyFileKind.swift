/// What a key file is instead of the expected one, for messages.
package struct KeyFileKind {
    /// With an article, such as "a certificate".
    package let words: String
    package let cause: BundleError.Cause

    /// For a file where a public key on P-256 was expected; nil where nothing better can be said.
    init?(insteadOfAPublicKey bytes: [UInt8]) {
        let start = String(decoding: bytes.prefix(4096), as: UTF8.self)
        if start.contains("-----BEGIN OPENSSH PRIVATE KEY-----") {
            self.init("an SSH private key", .isSSHSecret)
        } else if start.contains("PRIVATE KEY-----") {
            let isEncrypted = start.contains("-----BEGIN ENCRYPTED PRIVATE KEY-----")
            self.init("a private key, which should stay secret", isEncrypted ? .isEncryptedKey : .isPrivateKey)
        } else if start.contains("-----BEGIN CERTIFICATE-----") {
            self.init("a certificate", .isCertificate)
        } else if start.hasPrefix("ecdsa-sha2-nistp256 ") {
            self.init("an SSH public key", .isSSHPublicKey)
        } else if start.hasPrefix("ssh-") || start.hasPrefix("ecdsa-") {
            self.init("an SSH public key that is not on P-256", .isOtherKey)
        } else if let kind = FileKind(bytes), ![.text, .uploadBody].contains(kind.family) {
            self.init(kind.words, kind.family == .bundle ? .isBundle : .isOtherKey)
        } else {
            return nil
        }
    }

    /// For a file where the private device key was expected.
    package init?(insteadOfADeviceKey bytes: [UInt8]) {
        let start = String(decoding: bytes.prefix(4096), as: UTF8.self)
        let kinds: [(label: String, words: String, cause: BundleError.Cause)] = [
            ("PUBLIC KEY", "a public key", .isPublicKey), ("CERTIFICATE", "a certificate", .otherKind),
            ("OPENSSH PRIVATE KEY", "an SSH private key", .isSSHPrivateKey),
        ]
        guard let kind = kinds.first(where: { start.contains("-----BEGIN \($0.label)-----") }) else { return nil }
        self.init(kind.words, kind.cause)
    }

    /// For a file where a trust file was expected.
    init?(insteadOfATrustFile bytes: [UInt8]) {
        let start = String(decoding: bytes.prefix(4096), as: UTF8.self)
        if start.hasPrefix("-----BEGIN PUBLIC KEY-----") {
            self.init("a public key", .isPublicKey)
        } else if start.hasPrefix("-----BEGIN "), let other = KeyFileKind(insteadOfAPublicKey: bytes) {
            self = other
        } else if let kind = FileKind(bytes), ![.text, .json].contains(kind.family) {
            self.init(kind.words, kind.family == .bundle ? .isBundle : .otherKind)
        } else {
            return nil
        }
    }

    private init(_ words: String, _ cause: BundleError.Cause) { (self.words, self.cause) = (words, cause) }
}
