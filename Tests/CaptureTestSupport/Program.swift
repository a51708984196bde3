public import Foundation
import Synchronization

/// One run of a real program: its output streams apart, its exit code as a shell gives it.
public struct Program: Sendable {
    public let standardOutput: [UInt8]
    public let standardError: [UInt8]
    public let exitCode: Int32

    public var outputText: String { String(decoding: standardOutput, as: UTF8.self) }
    public var errorText: String { String(decoding: standardError, as: UTF8.self) }

    /// - Parameters:
    ///   - environment: all of it; nothing is inherited.
    ///   - input: what the program finds on a pipe; nil for nothing at all.
    public static func run(
        _ program: URL, _ arguments: [String], in folder: URL, environment: [String: String] = [:],
        input: [UInt8]? = nil
    ) throws -> Program {
        if let input {
            // Through a real `cat`: a tool that stops reading early must not end the tests with SIGPIPE, and ignoring that
            // signal here would be inherited by every tool.
            let feed = try TemporaryFolder()
            try feed.write(input, to: "input")
            let words = ["-c", "cat \"$0\" | \"$@\"", feed.path("input"), program.path()] + arguments
            return try run(URL(filePath: "/bin/sh"), words, in: folder, environment: environment)
        }
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        process.currentDirectoryURL = folder
        process.environment = environment
        let output = Pipe()
        let errors = Pipe()
        process.standardOutput = output
        process.standardError = errors
        process.standardInput = FileHandle.nullDevice
        try process.run()
        // Both pipes move at once: a program that waits for one of them must not hang the test.
        let group = DispatchGroup()
        let errorBytes = Mutex<[UInt8]>([])
        DispatchQueue.global().async(group: group) {
            let bytes = (try? errors.fileHandleForReading.readToEnd()).flatMap(\.self) ?? Data()
            errorBytes.withLock { $0 = Array(bytes) }
        }
        let outputBytes = try output.fileHandleForReading.readToEnd() ?? Data()
        group.wait()
        process.waitUntilExit()
        let signal: Int32 = process.terminationReason == .uncaughtSignal ? 128 : 0
        return Program(
            standardOutput: Array(outputBytes), standardError: errorBytes.withLock { $0 },
            exitCode: process.terminationStatus + signal)
    }
}
