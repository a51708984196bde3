import CaptureTestSupport
import Foundation

/// Runs the real tools in an empty folder, with none of the user's environment.
struct Capbundle {
    static let program = Places.product("capbundle")

    let folder: TemporaryFolder

    /// Whether the test is about the queue, whose output has times in it.
    let isQueue: Bool

    init(isQueue: Bool = false) throws {
        folder = try TemporaryFolder()
        self.isQueue = isQueue
    }

    var environment: [String: String] {
        [
            "HOME": folder.path, "XDG_DATA_HOME": folder.path("data"), "XDG_CONFIG_HOME": folder.path("config"),
            "PATH": "\(Self.program.deletingLastPathComponent().path()):/usr/bin:/bin", "LC_ALL": "C.UTF-8",
        ]
    }

    func run(_ arguments: String..., input: [UInt8]? = nil) throws -> Program {
        try Program.run(Self.program, arguments, in: folder.url, environment: environment, input: input)
    }

    func run(_ arguments: [String], input: [UInt8]? = nil) throws -> Program {
        try Program.run(Self.program, arguments, in: folder.url, environment: environment, input: input)
    }

    func run(tool: String, _ arguments: [String]) throws -> Program {
        try Program.run(Places.product(tool), arguments, in: folder.url, environment: environment)
    }

    func shell(_ line: String) throws -> Program {
        try Program.run(URL(filePath: "/bin/sh"), ["-c", line], in: folder.url, environment: environment)
    }
}
