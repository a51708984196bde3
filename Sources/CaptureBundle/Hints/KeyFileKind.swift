import CaptureNative
package import SystemPackage

/// What a key file is instead of the expected one, for messages.
package struct KeyFileKind {
    /// With an article, such as "a certificate".
    package let words: String
    /// Each holds a command, or says where the right file is.
    package let hints: [String]

    /// For a file where a public key on P-256 was expected; nil where nothing better can be said.
    init?(insteadOfAPublicKey bytes: [UInt8], name: String) {
        let word = ShellWord.quote(FilePath(name))
        let start = String(decoding: bytes.prefix(4096), as: UTF8.self)
        let isFile = name != "-"
        if start.contains("-----BEGIN OPENSSH PRIVATE KEY-----") {
            self.init(
                "an SSH private key", isFile ? ["keep it secret; to make a device key: capbundle key new"] : []
            )
        } else if start.contains("PRIVATE KEY-----") {
            let half = FilePath(name).adding(".pub")
            let isBeside = isFile && FileStatus.exists(half)
            // OpenSSL refuses the scrypt of an encrypted device key.
            let isEncrypted = start.contains("-----BEGIN ENCRYPTED PRIVATE KEY-----")
            let hint =
                isBeside
                ? "its public half is \(ShellWord.quote(half))"
                : isEncrypted
                    ? "to get its public half, in \(ShellWord.quote(half)): capbundle key recover --key \(word)"
                    : "to get its public half: openssl pkey -in \(word) -pubout -out NAME.pem"
            self.init("a private key, which should stay secret", isFile ? [hint] : [])
        } else if start.contains("-----BEGIN CERTIFICATE-----") {
            let hint = "to get the public key in it: openssl x509 -in \(word) -pubkey -noout > NAME.pem"
            self.init("a certificate", isFile ? [hint] : [])
        } else if start.hasPrefix("ecdsa-sha2-nistp256 ") {
            self.init(
                "an SSH public key", isFile ? ["to convert it: ssh-keygen -e -m PKCS8 -f \(word) > NAME.pem"] : [])
        } else if start.hasPrefix("ssh-") || start.hasPrefix("ecdsa-") {
            self.init(
                "an SSH public key that is not on P-256", ["to print the right key on the device: capbundle key public"]
            )
        } else if let kind = FileKind(bytes), kind.family == .bundle, isFile {
            self.init(kind.words, [Self.taking(from: FilePath(name))])
        } else if let kind = FileKind(bytes), ![.text, .uploadBody].contains(kind.family) {
            self.init(kind.words, ["to print the right key on the device: capbundle key public"])
        } else {
            return nil
        }
    }

    /// For a file where the private device key was expected.
    package init?(insteadOfADeviceKey bytes: [UInt8], path: FilePath) {
        let start = String(decoding: bytes.prefix(4096), as: UTF8.self)
        if start.contains("-----BEGIN PUBLIC KEY-----") {
            let own = path.string.rest(before: ".pub").map { FilePath($0) }
            let hint = own.flatMap { FileStatus.exists($0) ? "the device key is \(ShellWord.quote($0))" : nil }
            self.init("a public key", hint.map { [$0] } ?? [])
        } else if start.contains("-----BEGIN CERTIFICATE-----") {
            self.init("a certificate", [])
        } else if start.contains("-----BEGIN OPENSSH PRIVATE KEY-----") {
            self.init("an SSH private key", ["to make a device key: capbundle key new"])
        } else {
            return nil
        }
    }

    /// For a file where a trust file was expected.
    init?(insteadOfATrustFile bytes: [UInt8], name: String) {
        let word = ShellWord.quote(FilePath(name))
        let start = String(decoding: bytes.prefix(4096), as: UTF8.self)
        if start.hasPrefix("-----BEGIN PUBLIC KEY-----") {
            self.init("a public key", ["to trust it: capbundle trust add NAME \(word)"])
        } else if start.hasPrefix("-----BEGIN "), let other = KeyFileKind(insteadOfAPublicKey: bytes, name: name) {
            self = other
        } else if let kind = FileKind(bytes), kind.family == .bundle {
            self.init(kind.words, [Self.taking(from: FilePath(name))])
        } else if let kind = FileKind(bytes), ![.text, .json].contains(kind.family) {
            self.init(kind.words, [])
        } else {
            return nil
        }
    }

    static func taking(from bundle: FilePath) -> String {
        "to take the key out of a bundle: capbundle trust add NAME --from \(ShellWord.quote(bundle))"
    }

    private init(_ words: String, _ hints: [String]) {
        self.words = words
        self.hints = hints
    }
}
