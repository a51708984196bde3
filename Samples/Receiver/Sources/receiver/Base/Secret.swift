import CaptureBundle
import Foundation

/// Secrets that this program makes. They are compared by their hashes, so that the time tells nothing about them.
enum Secret {
    static func make(bytes: Int) -> String {
        (0..<bytes).map { _ in String(format: "%02x", UInt8.random(in: .min ... .max)) }.joined()
    }

    static func hash(_ secret: String) throws -> String { try Digest.of(Array(secret.utf8)).description }
}
