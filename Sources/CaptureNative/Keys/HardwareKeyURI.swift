package import SystemPackage

/// Names a key in hardware: `pkcs11:…` (RFC 7512), or `handle:0x…` for a key that a TPM keeps.
package struct HardwareKeyURI: Hashable, Sendable {
    package enum Kind: Sendable {
        case token, tpm

        /// OpenSSL's provider of such keys.
        package var provider: String { self == .token ? "pkcs11" : "tpm2" }
    }

    package let kind: Kind
    package let text: String

    private static let pinNames = ["pin-value", "pin-source"]
    private static let tokenNames = ["token", "serial", "model", "manufacturer"]

    /// Reads a URI where the path of a key file may be given; nil for any other path. A file whose name begins in the
    /// same way is reachable as `./pkcs11:…`.
    package init?(_ path: FilePath) {
        text = path.string
        if text.hasPrefix("pkcs11:") {
            kind = .token
        } else if text.hasPrefix("handle:") {
            kind = .tpm
        } else {
            return nil
        }
    }

    /// The URI without the PIN itself, for messages.
    package var shown: String { without(["pin-value"]) }

    /// Whether the URI has the PIN itself, which everyone can read who sees the URI.
    package var showsPIN: Bool { shown != text }

    /// Whether the URI has a PIN, or names the file with the PIN.
    var hasPIN: Bool { without(Self.pinNames) != text }

    /// Whether a PIN is asked for, if the URI has none. A token says so itself, but a TPM does not.
    package var asksForPIN: Bool { kind == .token || text.hasSuffix("?pass") }

    /// The URI that finds the public half of the key without a PIN.
    var ofPublicHalf: String {
        kind == .token ? without(Self.pinNames + ["type"]) : text.rest(before: "?pass") ?? text
    }

    /// The attributes of the path that have one of these names, such as `token=rig`.
    private func attributes(_ names: [String]) -> [String] {
        let path = text.without(first: 7).pieces(by: "?", limit: 2, keepsEmpty: true)[0]
        return path.pieces(by: ";").filter { attribute in names.contains { attribute.hasPrefix("\($0)=") } }
    }

    /// The attributes that say which token it is.
    var token: [String] { attributes(Self.tokenNames).sorted() }

    /// Whether the URI says itself which token it is.
    var namesToken: Bool { !attributes(["token", "serial"]).isEmpty }

    /// The URI with the facts of a token in place of its own ones.
    func text(in token: [String]) -> String {
        let parts = without(Self.tokenNames).without(first: 7).pieces(by: "?", limit: 2, keepsEmpty: true)
        let path = (token + parts[0].pieces(by: ";")).joined(separator: ";")
        return "pkcs11:" + ([path] + parts.dropFirst()).joined(separator: "?")
    }

    /// The type of object that the URI of a token asks for; nil for a private key, or if it names none.
    var otherType: String? {
        guard kind == .token else { return nil }
        return attributes(["type"]).compactMap { $0.rest(after: "type=") }.first { $0 != "private" }
    }

    /// The URI without some attributes. The provider accepts a PIN in both parts of a `pkcs11` URI.
    private func without(_ names: [String]) -> String {
        guard kind == .token else { return text }
        func rest(_ part: String, _ separator: Unicode.Scalar) -> String {
            part.pieces(by: separator, keepsEmpty: true)
                .filter { attribute in !names.contains { attribute.hasPrefix("\($0)=") } }
                .joined(separator: String(separator))
        }
        let parts = text.without(first: 7).pieces(by: "?", limit: 2, keepsEmpty: true)
        let query = parts.count > 1 ? rest(parts[1], "&") : ""
        return "pkcs11:" + rest(parts[0], ";") + (query.isEmpty ? "" : "?\(query)")
    }
}
