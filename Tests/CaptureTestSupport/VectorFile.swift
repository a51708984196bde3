public import Foundation

/// One file of Spec/Vectors: the expected result, and a bundle, an upload body or the body of a request
/// (Spec/Vectors/README.md).
public struct VectorFile: Sendable, CustomStringConvertible {
    public struct Damaged: Error, CustomStringConvertible {
        public let description: String
    }

    public let name: String
    public let expectedExit: Int
    /// The codes of `expect-code`, sorted; empty for `none`.
    public let expectedCodes: [String]
    public let trust: [String]
    /// The bytes of the trust file, from the lines of `trust` or from `trust-base64`.
    public let trustFile: [UInt8]
    public let arguments: [String]
    public let content: [UInt8]
    /// The contents of the side files, in the order of the header.
    public let sides: [[UInt8]]
    /// The value of `bundle-sha256`, for an upload body with a sound bundle.
    public let bundleSHA256: String?
    /// The headers of a request, and the public key that verifies it.
    public let request: Request?

    public struct Request: Sendable {
        public let point: String
        public let deviceID: String
        public let timestamp: String
        public let signature: String
    }

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
        let known: Set<String> = [
            "expect-exit", "expect-code", "covers", "comment", "trust", "trust-base64", "arguments",
        ]
        let more: [String: Set<String>] = [
            "multipart": ["bundle-sha256"],
            "chain": ["side"],
            "state": ["side"],
            "request": ["point", "x-device-id", "x-device-timestamp", "x-device-signature"],
        ]
        let allowed = known.union(more[url.deletingLastPathComponent().lastPathComponent] ?? [])
        if let unknown = fields.keys.first(where: { !allowed.contains($0) }) {
            throw Damaged(description: "\(name): unknown key \(unknown)")
        }
        guard let exit = fields["expect-exit"]?.first.flatMap({ Int($0) }), let codes = fields["expect-code"]?.first,
            fields["covers"] != nil, fields["comment"] != nil
        else { throw Damaged(description: "\(name): a key is missing") }
        expectedExit = exit
        expectedCodes = codes == "none" ? [] : codes.split(separator: ",").map(String.init).sorted()
        trust = fields["trust"] ?? []
        let lines = trust.map { $0 + "\n" }.joined()
        trustFile = Array(fields["trust-base64"]?.first.flatMap { Data(base64Encoded: $0) } ?? Data(lines.utf8))
        arguments = fields["arguments"]?.first?.split(separator: " ").map(String.init) ?? []
        bundleSHA256 = fields["bundle-sha256"]?.first
        request = fields["point"]?.first.map { point in
            Request(
                point: point, deviceID: fields["x-device-id"]?.first ?? "",
                timestamp: fields["x-device-timestamp"]?.first ?? "",
                signature: fields["x-device-signature"]?.first ?? "")
        }
        sides = try (fields["side"] ?? []).map { try Places.vectors.appending(path: "side/\($0)").bytes }
        content = Array(bytes[end.upperBound...])
    }

    private static let otherParts: Set<String> = ["multipart", "request", "chain", "state"]
    /// The folder of the side files.
    private static let sideFolder = "side"

    /// The names of the folders in Spec/Vectors, one for each part of the formats.
    public static func parts() throws -> [String] {
        try Places.vectors.children.filter(\.hasDirectoryPath).map(\.lastPathComponent)
            .filter { $0 != sideFolder }
    }

    /// All vectors that hold one bundle, which `verify` judges alone, sorted by name.
    public static func bundles() throws -> [VectorFile] {
        try parts().filter { !otherParts.contains($0) }.flatMap { try all(of: $0) }
    }

    public static func all(of part: String) throws -> [VectorFile] {
        try Places.vectors.appending(path: part).children.map { try VectorFile($0) }
    }

    /// One vector of the part for each set of codes, so that each kind of fault is met once. `make test-all` gets all.
    public static func oneOfEachKind(_ part: String) throws -> [VectorFile] {
        var seen: Set<String> = []
        return try all(of: part).filter {
            seen.insert("\($0.expectedExit) \($0.expectedCodes)").inserted || isLongRun
        }
    }
}
