/// A payload path of Spec/capture-bundle.md section 3.4. Every value can safely be appended to a folder.
public struct EntryPath: Hashable, Sendable, Comparable, CustomStringConvertible {
    public let description: String

    public static let photo = EntryPath(known: "photo.jpg")
    public static let depth = EntryPath(known: "depth.f32.gz")
    public static let metadata = EntryPath(known: "metadata.json")
    public static let location = EntryPath(known: "location.json")
    public static let confidence = EntryPath(known: "confidence.png")

    /// The photo from which `photo.jpg` was made.
    package static let heicSource = EntryPath(known: "source/photo.heic")
    package static let pngSource = EntryPath(known: "source/photo.png")
    /// The path for a carried file whose own name cannot be used.
    package static let unnamedSource = EntryPath(known: "source/file")

    private static let known = ["photo.jpg", "depth.f32.gz", "metadata.json", "location.json", "confidence.png"]
    /// The floats of `depth.f32.gz`, as raw folders have them.
    package static let floats = "depth.f32"
    private static let sourcePrefix = "source/"
    private static let deviceNames = Set(
        (["con", "prn", "aux", "nul"] + (0...9).flatMap { ["com\($0)", "lpt\($0)"] }).map { Array($0.utf8) })

    private init(known: String) { description = known }

    /// Creates a path; nil if the text is not a payload path.
    public init?(_ text: String) {
        guard Self.known.contains(text) || Self.isSource(text) else { return nil }
        description = text
    }

    /// The same, where `depth.f32` stands for the entry that holds those floats.
    package init?(asTyped text: String) { self.init(text == Self.floats ? Self.depth.description : text) }

    /// The names that a person can give an entry; those below `source/` are free.
    package static var names: [String] { known + [floats] }

    /// The role of the entry in a capture (section 4.3).
    public var role: Role {
        // The name of an entry that is alone in its role is that of the role, up to the first dot.
        Role(rawValue: description.pieces(by: ".", limit: 2)[0]) ?? .source
    }

    /// Compares bytewise, which is the order of entries in a bundle.
    public static func < (one: EntryPath, other: EntryPath) -> Bool {
        one.description.utf8.lexicographicallyPrecedes(other.description.utf8)
    }

    private static func isSource(_ text: String) -> Bool {
        guard text.utf8.count <= BundleLimits.pathBytes, text.hasPrefix(sourcePrefix) else { return false }
        let segment = text.utf8.dropFirst(sourcePrefix.utf8.count)
        guard let first = segment.first, isAlphanumeric(first), segment.last != UInt8(ascii: ".") else { return false }
        guard segment.allSatisfy({ isAlphanumeric($0) || ".-_".utf8.contains($0) }) else { return false }
        let stem = segment.prefix { $0 != UInt8(ascii: ".") }
        return !deviceNames.contains(Array(stem))
    }

    package static func isAlphanumeric(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
    }
}

/// The role of a payload entry in a capture (Spec/capture-bundle.md section 4.3).
public enum Role: String, Sendable, CaseIterable {
    case confidence, depth, location, metadata, photo, source

    /// The media type that entries with this role have; nil if the writer chooses it.
    var mediaType: String? {
        switch self {
        case .photo: "image/jpeg"
        case .confidence: "image/png"
        case .depth: "application/gzip"
        case .metadata, .location: "application/json"
        case .source: nil
        }
    }
}
