public import Foundation
public import SystemPackage

/// A new folder for one test. It is removed when the last reference to this object goes away.
public final class TemporaryFolder: Sendable {
    public let url: URL

    public init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "capbundle-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// The path of the folder, without a slash at the end.
    public var path: String { String(url.path().dropLast(url.path().hasSuffix("/") ? 1 : 0)) }

    public func path(_ name: String) -> String { "\(path)/\(name)" }

    /// Returns the same path as a `FilePath`, where the context needs one.
    @_disfavoredOverload
    public func path(_ name: String) -> FilePath { FilePath(path(name) as String) }

    public func write(_ bytes: [UInt8], to name: String) throws {
        let file = url.appending(path: name)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: file)
    }

    public func write(_ text: String, to name: String) throws { try write(Array(text.utf8), to: name) }

    public func bytes(_ name: String) throws -> [UInt8] { try url.appending(path: name).bytes }

    /// Runs a command line in this folder, which must succeed.
    public func shell(_ line: String) throws {
        let done = try Program.run(
            URL(filePath: "/bin/sh"), ["-c", line], in: url,
            environment: ["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"])
        guard done.exitCode == 0 else { throw Failed(description: "\(line): \(done.errorText)") }
    }

    private struct Failed: Error, CustomStringConvertible {
        let description: String
    }
}
