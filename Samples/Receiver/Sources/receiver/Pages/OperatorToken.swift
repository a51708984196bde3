import CaptureBundle
import Foundation
import SystemPackage

/// The secret that opens the operator's list. It is in a file that only the operator can read.
struct OperatorToken: Sendable {
    let text: String
    private let hash: String

    /// Reads the file, or makes it at the first start.
    init(file: FilePath) throws {
        if !FileManager.default.fileExists(atPath: file.string) {
            _ = try WholeFile.create(file, Array(Secret.make(bytes: 32).utf8))
        }
        let attributes = try FileManager.default.attributesOfItem(atPath: file.string)
        guard let mode = attributes[.posixPermissions] as? NSNumber, mode.intValue & 0o077 == 0 else {
            throw Unusable("\(file): others can read the operator token; use: chmod 600 \(file)")
        }
        text = String(decoding: FileManager.default.contents(atPath: file.string) ?? Data(), as: UTF8.self)
        guard Digest(hex: text) != nil else {
            throw Unusable("\(file): is not an operator token, expected 64 hex digits; remove the file")
        }
        hash = try Secret.hash(text)
    }

    /// The name of the cookie. It differs between receivers, because browsers send a cookie to all ports of a host.
    var cookieName: String { "operator-\(hash.prefix(8))" }

    func accepts(_ given: String) -> Bool { (try? Secret.hash(given)) == hash }
}
