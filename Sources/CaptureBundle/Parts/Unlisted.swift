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
            return "has no markers that lead to its end"
        }
        var names: [String] = []
        for name in fields.others where !names.contains(name) && names.count < 100 { names.append(name) }
        guard !names.isEmpty else { return nil }
        let more = names.count > 4 ? " and \(names.count - 3) more" : ""
        return "has \(names.prefix(more.isEmpty ? 4 : 3).joined(separator: ", "))\(more)"
    }

    package static func confidence(_ png: [UInt8]) -> String? {
        guard let chunks = PNGChunks(png) else { return "is not a PNG" }
        let outside = "has bytes outside its chunks"
        for chunk in chunks {
            switch chunk.type {
            case "IHDR" where chunk.isFirst && chunk.data.count == 13: break
            case "IDAT" where !chunk.isFirst: break
            case "IEND" where !chunk.isFirst && chunk.data.isEmpty: return chunk.isLast ? nil : outside
            case "IHDR", "IDAT", "IEND": return "has a chunk \(chunk.type) of another form"
            default: return "has the chunk \(chunk.type)"
            }
        }
        return outside
    }

    private static func metadata(_ json: [UInt8]) -> String? {
        let root = try? JSONParser.parse(json, nesting: BundleLimits.metadataNesting)
        guard let names = root.map({ CaptureMetadata.namesThatLookLikeAPosition(in: $0) }) else { return "is not JSON" }
        return names.isEmpty ? nil : "has the member \(names.joined(separator: ", "))"
    }
}
