public import Foundation

/// Where the files of this checkout are.
public enum Places {
    /// The top of the checkout.
    public static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    public static let vectors = root.appending(path: "Spec/Vectors")
    public static let sample = root.appending(path: "Samples/desk-lamp")

    /// Material that may lie beside the checkout; nil on a machine without it.
    public static func shared(_ path: String) -> URL? {
        let url = root.deletingLastPathComponent().appending(path: "shared").appending(path: path)
        return FileManager.default.fileExists(atPath: url.path()) ? url : nil
    }

    /// A program built beside the running tests.
    public static func product(_ name: String) -> URL {
        // The test runner is started from the build folder's product or as its bundle.
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

    /// The entries of a folder, sorted by name.
    public var children: [URL] {
        get throws {
            try FileManager.default.contentsOfDirectory(at: self, includingPropertiesForKeys: nil)
                .sorted { $0.lastPathComponent < $1.lastPathComponent }
        }
    }
}
