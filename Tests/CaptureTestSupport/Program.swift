public import Foundation
import Synchronization

/// The result of one run of a real program: both output streams, and the exit code as a shell reports it.
public struct Program: Sendable {
    public let standardOutput: [UInt8]
    public let standardError: [UInt8]
    public let exitCode: Int32

    public var outputText: String { String(decoding: standardOutput, as: UTF8.self) }
    public var errorText: String { String(decoding: standardError, as: UTF8.self) }

    /// - Parameters:
    ///   - environment: the whole environment of the program, which inherits nothing.
    ///   - input: the bytes that the program reads from a pipe; with nil its standard input is `/dev/null`.
    public static func run(
        _ program: URL, _ arguments: [String], in folder: URL, environment: [String: String] = [:],
        input: [UInt8]? = nil
    ) throws -> Program {
        if let input {
            // A separate `cat` feeds the pipe. If this process wrote, a program that stops reading early would end the
            // tests with SIGPIPE; and each program would inherit the setting if we ignored that signal here.
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
        // Read both pipes at once: a program that waits until one of them is read would block the test.
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
