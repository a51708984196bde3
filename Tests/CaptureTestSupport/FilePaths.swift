public import Foundation
public import SystemPackage

// Foundation takes paths as text, and our libraries return `FilePath`.
extension FileManager {
    public func setAttributes(_ attributes: [FileAttributeKey: Any], ofItemAtPath path: FilePath) throws {
        try setAttributes(attributes, ofItemAtPath: path.string)
    }

    public func attributesOfItem(atPath path: FilePath) throws -> [FileAttributeKey: Any] {
        try attributesOfItem(atPath: path.string)
    }

    public func moveItem(atPath path: FilePath, toPath other: FilePath) throws {
        try moveItem(atPath: path.string, toPath: other.string)
    }

    public func copyItem(atPath path: FilePath, toPath other: FilePath) throws {
        try copyItem(atPath: path.string, toPath: other.string)
    }

    public func removeItem(atPath path: FilePath) throws { try removeItem(atPath: path.string) }

    public func fileExists(atPath path: FilePath) -> Bool { fileExists(atPath: path.string) }

    public func contentsOfDirectory(atPath path: FilePath) throws -> [String] {
        try contentsOfDirectory(atPath: path.string)
    }
}

extension URL {
    public init(filePath path: FilePath) { self.init(filePath: path.string) }
}

extension FilePath {
    /// The contents of the file.
    public var bytes: [UInt8] { get throws { try URL(filePath: self).bytes } }

    /// Flips a bit in the middle of the file.
    public func damage() throws {
        var changed = try bytes
        changed[changed.count / 2] ^= 1
        try Data(changed).write(to: URL(filePath: self))
    }
}
