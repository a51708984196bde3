import CaptureTestSupport
import Foundation
import Synchronization
import Testing

/// A server that answers with the status in the path (Servers/answers.py), in another process, which ends with this one.
final class AnswerServer: Sendable {
    static let shared = Result { try AnswerServer() }

    let url: String
    private let process: Mutex<Process>
    private let pipes: Mutex<(asks: FileHandle, answers: FileHandle)>

    private init() throws {
        let program = Process()
        program.executableURL = URL(filePath: "/usr/bin/env")
        program.arguments = [
            "python3", Places.root.appending(path: "Tests/CaptureQueueTests/Servers/answers.py").path(),
        ]
        let (asks, answers) = (Pipe(), Pipe())
        program.standardInput = asks
        program.standardOutput = answers
        try program.run()
        process = Mutex(program)
        pipes = Mutex((asks.fileHandleForWriting, answers.fileHandleForReading))
        let line = try Self.line(answers.fileHandleForReading)
        url = String(decoding: line, as: UTF8.self)
        try #require(url.hasPrefix("http://"))
        // The stores of these tests check no keys.
        _ = unsafe setenv("AWS_ACCESS_KEY_ID", "AK", 0)
        _ = unsafe setenv("AWS_SECRET_ACCESS_KEY", "secret", 0)
    }

    /// The sizes of the bodies that were sent to a place, such as `502/later`.
    func bodies(_ place: String) throws -> [Int] {
        let line = try pipes.withLock { pipes in
            try pipes.asks.write(contentsOf: Data("\n".utf8))
            return try Self.line(pipes.answers)
        }
        return try JSONDecoder().decode([String: [Int]].self, from: Data(line))[place] ?? []
    }

    private static func line(_ handle: FileHandle) throws -> [UInt8] {
        var line: [UInt8] = []
        while let byte = try handle.read(upToCount: 1)?.first, byte != UInt8(ascii: "\n") { line.append(byte) }
        return line
    }
}
