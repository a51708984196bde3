import CaptureBundle
import Foundation
import SystemPackage

/// The secret that opens the operator's list. It is in a file that only the operator can read.
struct OperatorToken: Sendable {
    /// 64 hex digits.
    let text: String
    /// The name of the cookie. It differs between receivers, because browsers send a cookie to all ports of a host.
    let cookieName: String

    private static let length = 64

    /// Reads the file, or makes it at the first start.
    ///
    /// - Throws: `OperatorTokenUnusable` if others can read the file, or it contains something else.
    init(file: FilePath) throws {
        let text = try Self.readOrMake(file)
        guard text.utf8.count == Self.length, Digest(hex: text) != nil else {
            throw OperatorTokenUnusable("\(file): is not an operator token, expected 64 hex digits; remove the file")
        }
        self.text = text
        let hash = try Digest.of(Array(text.utf8)).description
        cookieName = "operator-\(String(decoding: hash.utf8.prefix(8), as: UTF8.self))"
    }

    /// Whether a text is the token. The time that this takes does not depend on how much of the text is right.
    func accepts(_ given: String) -> Bool {
        guard let one = try? Digest.of(Array(given.utf8)), let other = try? Digest.of(Array(text.utf8)) else {
            return false
        }
        return zip(one.bytes, other.bytes).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    private static func readOrMake(_ file: FilePath) throws -> String {
        if !FileManager.default.fileExists(atPath: file.string) {
            var generator = SystemRandomNumberGenerator()
            let made = (0..<8).map { _ in
                let digits = String(generator.next() as UInt32, radix: 16)
                return String(repeating: "0", count: 8 - digits.utf8.count) + digits
            }.joined()
            _ = try WholeFile.create(file, Array(made.utf8))
        }
        let attributes = try FileManager.default.attributesOfItem(atPath: file.string)
        let mode = (attributes[.posixPermissions] as? NSNumber)?.intValue ?? 0
        guard mode & 0o077 == 0 else {
            throw OperatorTokenUnusable("\(file): others can read the operator token; use: chmod 600 \(file)")
        }
        return String(decoding: FileManager.default.contents(atPath: file.string) ?? Data(), as: UTF8.self)
    }
}

/// The file of the operator's token cannot be used.
struct OperatorTokenUnusable: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
