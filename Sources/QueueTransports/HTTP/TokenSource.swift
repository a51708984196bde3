import QueueModel
import Synchronization
import SystemPackage

/// The bearer token of a destination, read once a run and once more for each time that the server refuses it.
final class TokenSource: Sendable {
    private let origin: TokenSettings
    /// Held while it is read, so that transfers side by side read it once.
    private let token = Mutex<String?>(nil)

    init(_ origin: TokenSettings) { self.origin = origin }

    func current(_ control: SendControl) throws(SendTrouble) -> String { try after(nil, control) }

    /// - Parameter refused: what the server did not take; nil for none.
    func after(_ refused: String?, _ control: SendControl) throws(SendTrouble) -> String {
        let origin = origin
        let result = token.withLock { known -> Result<String, SendTrouble> in
            if let known, known != refused { return .success(known) }
            do throws(SendTrouble) {
                let fresh = try Self.read(origin, control)
                known = fresh
                return .success(fresh)
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    private static func read(_ origin: TokenSettings, _ control: SendControl) throws(SendTrouble) -> String {
        switch origin {
        case .command(let command):
            do throws(SendTrouble) {
                return try SecretFile.firstLine(of: command, [:], control)
            } catch {
                throw SendTrouble(message: "token-command: \(error.message)")
            }
        case .file(let path):
            let line = try SecretFile.firstLine(path)
            guard line.count <= SecretFile.longest, line.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
                throw SendTrouble(message: "\(path) holds no token: expected one line of printable characters")
            }
            return String(decoding: line, as: UTF8.self)
        }
    }
}
