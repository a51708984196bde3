import CaptureNative
import SystemPackage

/// Searches the entries that stay in a bundle for a position while they are copied. It has at most one entry in memory.
struct RemainingPlaces {
    private struct Found {
        let path: EntryPath
        /// What was found in the entry, and what follows for the position.
        let message: String

        static func told(_ path: EntryPath, _ words: String) -> Found {
            Found(path: path, message: "tells a position (\(words)), so withholding location.json does not hide it")
        }

        static func unsearched(_ path: EntryPath, _ reason: String) -> Found {
            Found(
                path: path,
                message: "could not be searched for a position (\(reason)), so it may reveal the position that you "
                    + "withhold")
        }
    }

    private let decoder: PictureDecoder
    private var found: [Found] = []
    /// The decoder could not be used, so an entry was not searched.
    private var failure: BundleError?
    private var current: EntryPath?
    private var bytes: [UInt8] = []

    init(_ decoder: PictureDecoder) { self.decoder = decoder }

    mutating func begin(_ entry: ManifestEntry) {
        // The depth map has samples only (Spec/capture-bundle.md section 5).
        guard entry.path != .depth else { return }
        current = entry.path
        bytes.reserveCapacity(min(entry.size, 1 << 20))
    }

    mutating func take(_ piece: Span<UInt8>) {
        guard let path = current else { return }
        bytes.append(copying: piece)
        let limit = Self.limit(path)
        if bytes.count > limit {
            found.append(.unsearched(path, "it is larger than \(limit) bytes"))
            drop()
        }
    }

    mutating func end() {
        guard let path = current else { return }
        switch Form(path, bytes) {
        case .searched(let kind): note(path, PlacesTold.tellsAPosition(bytes, kind: kind))
        case .heif: searchHEIF(path)
        }
        drop()
    }

    private mutating func drop() {
        current = nil
        bytes = []
    }

    /// - Parameter words: What tells a position; nil if nothing does.
    private mutating func note(_ path: EntryPath, _ words: String?) {
        if let words { found.append(.told(path, words)) }
    }

    private mutating func searchHEIF(_ path: EntryPath) {
        do {
            let picture = try decoder.heif(bytes, withPhoto: false)
            note(
                path,
                picture.exif.flatMap { PlacesTold.tellsAPosition($0, kind: .tiff) }
                    ?? picture.xmp.flatMap { PlacesTold.tellsAPosition($0, kind: .xmp) })
        } catch {
            guard error.kind.isInstallation else { return found.append(.unsearched(path, error.message)) }
            failure = BundleError(.decoderMissing, error.message, entry: path.description, hints: error.hints)
        }
    }

    /// The error if an entry tells a position, or if one could not be searched; nil if the position is hidden.
    func refusal(_ file: String, _ manifest: Manifest) -> BundleError? {
        if let failure {
            return BundleError(
                failure.code, "must be searched for a position, but \(failure.message)", file: file,
                entry: failure.entry, hints: failure.hints)
        }
        var faults = FaultList()
        for one in found {
            _ = faults.attempt { () throws(BundleError) in
                let isLast = one.path == found.last?.path
                let isWithholdable = manifest.entry(one.path)?.isWithholdable ?? false
                throw BundleError(
                    .redactPosition, one.message, file: file, entry: one.path.description,
                    hints: [
                        isWithholdable ? "withhold it too: --withhold location.json,\(one.path)" : nil,
                        Self.packing(one.path),
                        isLast ? "to withhold location.json anyway: --keep-photo-location" : nil,
                    ].compactMap(\.self))
            }
        }
        return faults.faults.isEmpty ? nil : faults.joined
    }

    /// Says how to pack a capture so that this entry does not tell the position.
    private static func packing(_ path: EntryPath) -> String? {
        if path == .heicSource {
            return "to leave it out, convert the photo without its position yourself, and pack the capture again"
        }
        return switch path.role {
        case .photo: "to take it out of the photo, pack the capture again with --rewrite-photo"
        case .source: "to leave the file out, pack the capture again without --keep-source"
        case .metadata: "to leave it out, remove it from metadata.json and pack the capture again"
        case .confidence: "to leave it out, write confidence.png without it and pack the capture again"
        case .depth, .location: nil
        }
    }

    private static func limit(_ path: EntryPath) -> Int {
        path.role == .photo || path == .heicSource ? FileLimits.photo : FileLimits.carried
    }
}

/// How an entry is searched.
private enum Form {
    case searched(PlacesTold.Kind)
    case heif

    init(_ path: EntryPath, _ bytes: [UInt8]) {
        switch path {
        case .photo: self = .searched(.jpeg)
        case .metadata, .location: self = .searched(.json)
        case .confidence: self = .searched(.png)
        default:
            let isHEIF = FileKind(bytes)?.family == .heif
            self = isHEIF ? .heif : .searched(PlacesTold.Kind(FilePath(path.description), bytes))
        }
    }
}
