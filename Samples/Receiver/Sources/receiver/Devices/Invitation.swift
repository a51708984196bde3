/// Allows one device to register. The secret itself is not stored.
struct Invitation: Codable, Sendable {
    let name: String
    let secretSHA256: String
    /// The time in milliseconds from which the invitation is invalid.
    let expires: Int

    private enum CodingKeys: String, CodingKey {
        case name, expires
        case secretSHA256 = "secret_sha256"
    }

    func accepts(_ secret: String, at now: Int) throws -> Bool {
        try Secret.hash(secret) == secretSHA256 && now < expires
    }
}
