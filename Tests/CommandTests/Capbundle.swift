import CaptureTestSupport
import Foundation

/// The real tool, run in an empty folder with nothing of the user's environment.
struct Capbundle {
    static let program = Places.product("capbundle")

    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

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

    func shell(_ line: String) throws -> Program {
        try Program.run(URL(filePath: "/bin/sh"), ["-c", line], in: folder.url, environment: environment)
    }
}
