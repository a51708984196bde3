public import Foundation

/// One file of Spec/Vectors: what is expected, and a bundle (Spec/Vectors/README.md).
public struct VectorFile: Sendable, CustomStringConvertible {
    public struct Damaged: Error, CustomStringConvertible {
        public let description: String
    }

    public let name: String
    public let expectedExit: Int
    /// Sorted; empty for `none`.
    public let expectedCodes: [String]
    public let trust: [String]
    public let arguments: [String]
    public let bundle: [UInt8]

    public var description: String { name }

    public init(_ url: URL) throws {
        name = "\(url.deletingLastPathComponent().lastPathComponent)/\(url.lastPathComponent)"
        let bytes = try url.bytes
        guard let end = bytes.firstRange(of: [0x0a, 0x0a]) else { throw Damaged(description: "\(name): no header") }
        var fields: [String: [String]] = [:]
        for line in String(decoding: bytes[..<end.lowerBound], as: UTF8.self).split(separator: "\n") {
            guard let colon = line.firstRange(of: ": ") else { throw Damaged(description: "\(name): \(line)") }
            fields[String(line[..<colon.lowerBound]), default: []].append(String(line[colon.upperBound...]))
        }
        let known: Set<String> = ["expect-exit", "expect-code", "covers", "comment", "trust", "arguments"]
        if let unknown = fields.keys.first(where: { !known.contains($0) }) {
            throw Damaged(description: "\(name): unknown key \(unknown)")
        }
        guard let exit = fields["expect-exit"]?.first.flatMap({ Int($0) }), let codes = fields["expect-code"]?.first,
            fields["covers"] != nil, fields["comment"] != nil
        else { throw Damaged(description: "\(name): a key is missing") }
        expectedExit = exit
        expectedCodes = codes == "none" ? [] : codes.split(separator: ",").map(String.init).sorted()
        trust = fields["trust"] ?? []
        arguments = fields["arguments"]?.first?.split(separator: " ").map(String.init) ?? []
        bundle = Array(bytes[end.upperBound...])
    }

    /// All vectors, sorted by name.
    public static func all() throws -> [VectorFile] {
        let parts = try Places.vectors.children.filter(\.hasDirectoryPath)
        return try parts.flatMap { try $0.children.map { try VectorFile($0) } }
    }
}
