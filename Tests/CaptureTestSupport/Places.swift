public import Foundation

/// The paths of files that tests use.
public enum Places {
    /// The top folder of the checkout.
    public static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    public static let vectors = root.appending(path: "Spec/Vectors")
    public static let sample = root.appending(path: "Samples/desk-lamp")

    /// Returns a file of the shared folder beside the checkout; nil on a machine without that folder.
    public static func shared(_ path: String) -> URL? {
        let url = root.deletingLastPathComponent().appending(path: "shared").appending(path: path)
        return FileManager.default.fileExists(atPath: url.path()) ? url : nil
    }

    /// Returns the path of a program that was built with the tests, or of its release build if CAPTURE_TOOLS names that
    /// folder.
    public static func product(_ name: String) -> URL {
        if let folder = ProcessInfo.processInfo.environment["CAPTURE_TOOLS"] {
            return URL(filePath: folder).appending(path: name)
        }
        // The folder of the test runner is the build folder if the runner was started from there.
        let tests = URL(filePath: CommandLine.arguments[0])
        let candidates = [tests.deletingLastPathComponent(), root.appending(path: ".build/release")]
        let found = candidates.map { $0.appending(path: name) }.first {
            FileManager.default.isExecutableFile(atPath: $0.path())
        }
        return found ?? root.appending(path: ".build/debug/\(name)")
    }
}

extension URL {
    public var bytes: [UInt8] {
        get throws { Array(try Data(contentsOf: self)) }
    }

    /// The entries of this folder, sorted by name.
    public var children: [URL] {
        get throws {
            try FileManager.default.contentsOfDirectory(at: self, includingPropertiesForKeys: nil)
                .sorted { $0.lastPathComponent < $1.lastPathComponent }
        }
    }
}
