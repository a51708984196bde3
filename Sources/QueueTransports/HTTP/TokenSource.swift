import QueueModel
import Synchronization
import SystemPackage

/// The bearer token of a destination. A run reads it once, and again each time the server refuses it.
final class TokenSource: Sendable {
    private struct Known {
        var token: String?
        /// Why it could not be read the last time.
        var trouble: (any Error)?
    }

    private let origin: TokenSettings
    /// The lock is held while the token is read, so that concurrent transfers read it once.
    private let known = Mutex(Known())
    /// How often reading has ended.
    private let readings = Mutex(0)

    init(_ origin: TokenSettings) { self.origin = origin }

    func current(_ control: SendControl) throws -> String { try after(nil, control) }

    /// Returns the token, and reads it again if the known one was refused.
    ///
    /// - Parameter refused: the token that the server refused; nil if none was refused.
    func after(_ refused: String?, _ control: SendControl) throws -> String {
        let before = readings.withLock(\.self)
        return try known.withLock { known in
            if let token = known.token, token != refused { return token }
            // It could not be read while this transfer waited for the lock.
            if let trouble = known.trouble, readings.withLock({ $0 > before }) { throw trouble }
            known.trouble = nil
            defer { readings.withLock { $0 += 1 } }
            do {
                let fresh = try Self.read(origin, control)
                known.token = fresh
                return fresh
            } catch {
                // A transfer that the user stopped has learned nothing for the others.
                if control.stopped == nil { known.trouble = error }
                throw error
            }
        }
    }

    /// What is before the token in a line that was copied with too much.
    private static func beginning(of line: [UInt8]) -> String? {
        let text = String(decoding: line.prefix(32), as: UTF8.self).lowercased()
        if text.hasPrefix("\u{feff}") { return "begins with a byte order mark: expected only the token" }
        if text.hasPrefix("authorization:") { return "begins with a header name: expected only the token" }
        return text.hasPrefix("bearer ")
            ? "begins with \"Bearer \", which is added anyway: expected only the token" : nil
    }

    private static func read(_ origin: TokenSettings, _ control: SendControl) throws -> String {
        switch origin {
        case .command(let command):
            return try SendOutcome.ours(of: "token-command") { try SecretFile.firstLine(of: command, [:], control) }
        case .file(let path):
            let line = try SecretFile.firstLine(path)
            if let fault = Self.beginning(of: line) { throw SendOutcome.ours("\(path) \(fault)") }
            guard SecretFile.isPrintable(line) else {
                throw SendOutcome.ours("\(path) holds no token: expected one line of printable characters")
            }
            return String(decoding: line, as: UTF8.self)
        }
    }
}
