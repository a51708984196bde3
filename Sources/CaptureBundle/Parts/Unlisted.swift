/// Finds what a bundle without a position must not contain (Spec/raw-captures.md section 7).
package enum Unlisted {
    /// The largest photo that is read.
    package static let sizeLimit = 1 << 30

    /// Whether the bytes of an entry must be read to judge it.
    static func needsBytes(_ path: EntryPath) -> Bool { [.photo, .confidence, .metadata].contains(path) }

    /// Says what an entry has that is not listed, such as `has XMP`; nil for an entry that is as listed.
    ///
    /// - Parameter bytes: The bytes of an entry that needs them.
    package static func words(_ path: EntryPath, _ bytes: [UInt8]) -> String? {
        switch path {
        case .photo: photo(bytes)
        case .confidence: confidence(bytes)
        case .metadata: metadata(bytes)
        default: path.role == .source ? "is a file as it was found" : nil
        }
    }

    package static func photo(_ jpeg: [UInt8]) -> String? {
        guard jpeg.count <= sizeLimit else { return "has more than \(sizeLimit) bytes" }
        let fields: PhotoFields
        do throws(PhotoFields.Failure) { fields = try PhotoFields(jpeg) } catch {
            return "is broken, or does not say how many lines it has"
        }
        var names: [String] = []
        for name in fields.others where !names.contains(name) && names.count < 100 { names.append(name) }
        guard !names.isEmpty else { return nil }
        let more = names.count > 4 ? " and \(names.count - 3) more" : ""
        return "has \(names.prefix(more.isEmpty ? 4 : 3).joined(separator: ", "))\(more)"
    }

    private static func metadata(_ json: [UInt8]) -> String? {
        let root = try? JSONParser.parse(json, nesting: BundleLimits.metadataNesting)
        guard let names = root.map({ CaptureMetadata.namesThatLookLikeAPosition(in: $0) }) else { return "is not JSON" }
        return names.isEmpty ? nil : "has the member \(names.joined(separator: ", "))"
    }
}
