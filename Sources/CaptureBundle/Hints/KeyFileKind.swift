import CaptureNative
package import SystemPackage

/// What a key file is instead of the expected one, for messages.
package struct KeyFileKind {
    /// With an article, such as "a certificate".
    package let words: String
    /// What to do with it, or where the right file is.
    package let hints: [Hint]

    /// For a file where a public key on P-256 was expected; nil where nothing better can be said.
    init?(insteadOfAPublicKey bytes: [UInt8], name: String) {
        let word = ShellWord.quote(FilePath(name))
        let start = String(decoding: bytes.prefix(4096), as: UTF8.self)
        let isFile = name != "-"
        if start.contains("-----BEGIN OPENSSH PRIVATE KEY-----") {
            self.init("an SSH private key", isFile ? [.key(.make(insteadOfSecret: true))] : [])
        } else if start.contains("PRIVATE KEY-----") {
            let half = FilePath(name).adding(".pub")
            let isBeside = isFile && FileStatus.exists(half)
            // OpenSSL refuses the scrypt of an encrypted device key.
            let isEncrypted = start.contains("-----BEGIN ENCRYPTED PRIVATE KEY-----")
            let hint: Hint =
                isBeside
                ? "its public half is \(ShellWord.quote(half))"
                : isEncrypted
                    ? .key(.recoverMissingHalf(FilePath(name), into: half))
                    : "to get its public half: openssl pkey -in \(word) -pubout -out NAME.pem"
            self.init("a private key, which should stay secret", isFile ? [hint] : [])
        } else if start.contains("-----BEGIN CERTIFICATE-----") {
            self.init(
                "a certificate",
                isFile ? ["to get the public key in it: openssl x509 -in \(word) -pubkey -noout > NAME.pem"] : [])
        } else if start.hasPrefix("ecdsa-sha2-nistp256 ") {
            self.init(
                "an SSH public key", isFile ? ["to convert it: ssh-keygen -e -m PKCS8 -f \(word) > NAME.pem"] : [])
        } else if start.hasPrefix("ssh-") || start.hasPrefix("ecdsa-") {
            self.init("an SSH public key that is not on P-256", [.key(.print(isOther: true))])
        } else if let kind = FileKind(bytes), kind.family == .bundle, isFile {
            self.init(kind.words, [.trustDevice(bundle: FilePath(name))])
        } else if let kind = FileKind(bytes), ![.text, .uploadBody].contains(kind.family) {
            self.init(kind.words, [.key(.print(isOther: true))])
        } else {
            return nil
        }
    }

    /// For a file where the private device key was expected.
    package init?(insteadOfADeviceKey bytes: [UInt8], path: FilePath) {
        let start = String(decoding: bytes.prefix(4096), as: UTF8.self)
        if start.contains("-----BEGIN PUBLIC KEY-----") {
            let own = path.string.rest(before: ".pub").map { FilePath($0) }
            let hints = own.map { FileStatus.exists($0) ? ["the device key is \(ShellWord.quote($0))" as Hint] : [] }
            self.init("a public key", hints ?? [])
        } else if start.contains("-----BEGIN CERTIFICATE-----") {
            self.init("a certificate", [])
        } else if start.contains("-----BEGIN OPENSSH PRIVATE KEY-----") {
            self.init("an SSH private key", [.key(.make(insteadOfSecret: false))])
        } else {
            return nil
        }
    }

    /// For a file where a trust file was expected.
    init?(insteadOfATrustFile bytes: [UInt8], name: String) {
        let start = String(decoding: bytes.prefix(4096), as: UTF8.self)
        if start.hasPrefix("-----BEGIN PUBLIC KEY-----") {
            self.init("a public key", [.trustKey(FilePath(name))])
        } else if start.hasPrefix("-----BEGIN "), let other = KeyFileKind(insteadOfAPublicKey: bytes, name: name) {
            self = other
        } else if let kind = FileKind(bytes), kind.family == .bundle {
            self.init(kind.words, [.trustDevice(bundle: FilePath(name))])
        } else if let kind = FileKind(bytes), ![.text, .json].contains(kind.family) {
            self.init(kind.words, [])
        } else {
            return nil
        }
    }

    private init(_ words: String, _ hints: [Hint]) {
        self.words = words
        self.hints = hints
    }
}
