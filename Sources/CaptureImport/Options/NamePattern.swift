import CaptureBundle
import CaptureNative
package import SystemPackage

/// The names of the files of one kind, relative to RAW, such as `rgb/frame-*.jpg` (Spec/raw-captures.md section 4).
public struct NamePattern: Hashable, Sendable, LosslessStringConvertible {
    public let description: String
    private let folder: [[UInt8]]
    /// The parts of the component with the `*`, before and after it; nil if the pattern has no `*`.
    private let star: (before: [UInt8], after: [UInt8])?
    private let rest: [[UInt8]]

    package var hasStar: Bool { star != nil }

    /// Parses a relative path with at most one `*`; nil for any other text, and for a path that leaves RAW.
    public init?(_ text: String) {
        guard !text.isEmpty, text.utf8.first != UInt8(ascii: "/"), !text.utf8.contains(0) else { return nil }
        let parts = text.pieces(by: "/").filter { $0 != "." }.map { Array($0.utf8) }
        let mark = UInt8(ascii: "*")
        guard !parts.isEmpty, !parts.contains(Array("..".utf8)), text.utf8.count(where: { $0 == mark }) <= 1 else {
            return nil
        }
        description = text
        guard let place = parts.firstIndex(where: { $0.contains(mark) }), let cut = parts[place].firstIndex(of: mark)
        else {
            (folder, star, rest) = (parts, nil, [])
            return
        }
        folder = Array(parts[..<place])
        star = (Array(parts[place][..<cut]), Array(parts[place][(cut + 1)...]))
        rest = Array(parts[(place + 1)...])
    }

    public static func == (one: NamePattern, other: NamePattern) -> Bool { one.description == other.description }

    public func hash(into hasher: inout Hasher) { for byte in description.utf8 { hasher.combine(byte) } }

    /// The path with these bytes in place of `*`.
    package func path(_ bytes: [UInt8]) -> FilePath? {
        let middle = star.map { [$0.before + bytes + $0.after] } ?? []
        return Self.path(folder + middle + rest)
    }

    private static func path(_ parts: [[UInt8]]) -> FilePath? {
        let names = parts.compactMap { FilePath.Component($0) }
        return names.count == parts.count ? FilePath(root: nil, names) : nil
    }

    /// What `*` matches in the tree, in bytewise order. If the pattern has no `*` and the file exists, this is one empty
    /// text. In a folder that cannot be read, nothing matches.
    package func matches(in tree: RawTree) -> [[UInt8]] { (try? find(in: tree)) ?? [] }

    /// Finds what `matches` finds.
    ///
    /// - Throws: `input.unreadable` or `io.failed` if the names in the folder cannot be read.
    func find(in tree: RawTree) throws(BundleError) -> [[UInt8]] {
        guard let star else { return path([]).map(tree.has) == true ? [[]] : [] }
        guard let place = Self.path(folder) else { return [] }
        return try tree.list(place).compactMap { name -> [UInt8]? in
            let bytes = name.bytes
            // As in a shell; macOS puts `._NAME` beside each file on foreign disks.
            if star.before.isEmpty && bytes.first == UInt8(ascii: ".") { return nil }
            guard bytes.count > star.before.count + star.after.count, bytes.starts(with: star.before),
                bytes.reversed().starts(with: star.after.reversed())
            else { return nil }
            let found = Array(bytes[star.before.count..<(bytes.count - star.after.count)])
            return rest.isEmpty || path(found).map(tree.has) == true ? found : nil
        }
    }
}

/// The patterns that the user gives for the files of a capture or of many frames.
public struct CapturePatterns: Hashable, Sendable {
    public var photo: NamePattern
    public var depth: NamePattern?
    public var confidence: NamePattern?

    /// Creates the patterns; nil if some of them have a `*` and others do not.
    public init?(photo: NamePattern, depth: NamePattern? = nil, confidence: NamePattern? = nil) {
        guard [depth, confidence].compactMap(\.self).allSatisfy({ $0.hasStar == photo.hasStar }) else { return nil }
        (self.photo, self.depth, self.confidence) = (photo, depth, confidence)
    }
}
