import CaptureTestSupport
import Foundation
import Synchronization
import Testing

/// nginx, SeaweedFS and a capture API in another process, which ends with this one.
final class ContractServers: Sendable {
    struct Addresses: Decodable, Sendable {
        let put: String
        let http: String
        let s3: String
        let device: String
        let key: String
        let secret: String
    }

    private struct Answer: Decodable {
        let answer: Int
    }

    /// All tests share one value, because an environment variable of the process names the file of S3 credentials.
    static let shared = Result { try ContractServers() }

    let room: BundleRoom
    let addresses: Addresses
    private let folder: TemporaryFolder
    private let process: Mutex<Process>
    private let input: FileHandle
    private let output: Mutex<FileHandle>

    private init() throws {
        room = try BundleRoom()
        folder = try TemporaryFolder()
        let made = try Program.run(
            Places.root.appending(path: ".ci/environment"), [], in: Places.root,
            environment: ProcessInfo.processInfo.environment)
        try #require(made.exitCode == 0, "no Python for the servers: \(made.errorText)")
        let python = made.outputText.trimmingCharacters(in: .whitespacesAndNewlines)
        let program = Process()
        program.executableURL = URL(filePath: python)
        program.arguments = [
            Places.root.appending(path: "Tests/QueueTransportsTests/Servers/servers.py").path(),
            room.path("keys/device.key.pub"), folder.path,
        ]
        let (asks, answers) = (Pipe(), Pipe())
        program.standardInput = asks
        program.standardOutput = answers
        try program.run()
        process = Mutex(program)
        input = asks.fileHandleForWriting
        output = Mutex(answers.fileHandleForReading)
        let line = try output.withLock { try Self.line($0) }
        addresses = try JSONDecoder().decode(Addresses.self, from: Data(line.utf8))
        try folder.write(
            "[contract]\naws_access_key_id = \(addresses.key)\naws_secret_access_key = \(addresses.secret)\n",
            to: "credentials")
        // No other code in these tests reads this variable.
        let status = unsafe setenv("AWS_SHARED_CREDENTIALS_FILE", folder.path("credentials"), 1)
        try #require(status == 0)
    }

    /// Returns how many copies of these bytes a server has.
    func holds(_ kind: String, _ sha256: String) throws -> Int { try ask("holds \(kind) \(sha256)") }

    /// Deletes everything that a server has.
    func forget(_ kind: String) throws { _ = try ask("forget \(kind)") }

    private func ask(_ line: String) throws -> Int {
        try output.withLock { output in
            try input.write(contentsOf: Data((line + "\n").utf8))
            return try JSONDecoder().decode(Answer.self, from: Data(try Self.line(output).utf8)).answer
        }
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
