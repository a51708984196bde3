import CaptureTestSupport
import Foundation
import Synchronization
import Testing

/// SeaweedFS in another process, which ends with this one.
final class StoreServer: Sendable {
    struct Address: Decodable, Sendable {
        let url: String
        let key: String
        let secret: String
    }

    /// All tests share one value, because an environment variable of the process names the file of S3 credentials.
    static let shared = Result { try StoreServer() }

    let address: Address
    private let folder: TemporaryFolder
    private let process: Mutex<Process>
    private let input: FileHandle

    private init() throws {
        folder = try TemporaryFolder()
        let made = try Program.run(
            Places.root.appending(path: ".ci/environment"), [], in: Places.root,
            environment: ProcessInfo.processInfo.environment)
        try #require(made.exitCode == 0, "no Python for the server: \(made.errorText)")
        let python = made.outputText.trimmingCharacters(in: .whitespacesAndNewlines)
        let program = Process()
        program.executableURL = URL(filePath: python)
        program.arguments = [
            Places.root.appending(path: "Tests/QueueTransportsTests/Servers/store.py").path(), folder.path,
        ]
        let (asks, answers) = (Pipe(), Pipe())
        program.standardInput = asks
        program.standardOutput = answers
        try program.run()
        process = Mutex(program)
        input = asks.fileHandleForWriting
        let line = try Self.line(answers.fileHandleForReading)
        address = try JSONDecoder().decode(Address.self, from: Data(line.utf8))
        try folder.write(
            "[test]\naws_access_key_id = \(address.key)\naws_secret_access_key = \(address.secret)\n",
            to: "credentials")
        // No other code in these tests reads this variable.
        let status = unsafe setenv("AWS_SHARED_CREDENTIALS_FILE", folder.path("credentials"), 1)
        try #require(status == 0)
    }

    private static func line(_ handle: FileHandle) throws -> String {
        var bytes: [UInt8] = []
        while let byte = try handle.read(upToCount: 1)?.first {
            if byte == UInt8(ascii: "\n") { return String(decoding: bytes, as: UTF8.self) }
            bytes.append(byte)
        }
        throw CocoaError(.fileReadUnknown)
    }
}
