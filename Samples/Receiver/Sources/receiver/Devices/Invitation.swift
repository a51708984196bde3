import CaptureBundle
import Foundation

/// Allows one device to register. The secret itself is not stored.
struct Invitation: Codable, Sendable {
    /// The name of the future device.
    let name: String
    let secretSHA256: String
    /// The time in milliseconds from which the invitation is invalid.
    let expires: Int

    private enum CodingKeys: String, CodingKey {
        case name, expires
        case secretSHA256 = "secret_sha256"
    }

    /// Whether the secret belongs to this invitation. The time that this takes does not depend on the secret.
    func accepts(_ secret: String, at now: Int) throws -> Bool {
        let (given, expected) = (Array(try Self.hash(secret).utf8), Array(secretSHA256.utf8))
        guard given.count == expected.count else { return false }
        let difference = zip(given, expected).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) }
        return difference == 0 && now < expires
    }

    static func hash(_ secret: String) throws -> String { try Digest.of(Array(secret.utf8)).description }

    /// 160 random bits in hex.
    static func newSecret() -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<5).map { _ in
            let digits = String(generator.next() as UInt32, radix: 16)
            return String(repeating: "0", count: 8 - digits.utf8.count) + digits
        }.joined()
    }
}
