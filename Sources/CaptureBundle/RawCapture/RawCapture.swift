import CaptureNative
import SystemPackage

/// A raw capture that was read and checked, but is not in a bundle yet.
package struct RawCapture {
    struct Photo {
        let file: FilePath
        let content: PayloadContent
        let size: Int
        let sha256: Digest
        let structure: JPEGStructure
    }

    struct Depth {
        /// The depth values as Float32 little-endian, row-major, top row first, in metres.
        let floats: PayloadContent
        let size: DepthSize
        let sha256: Digest
        /// The file of the raw capture that contains the samples; `source` describes its form.
        let file: FilePath
        let source: DepthDescription.Source
    }

    /// An entry that is copied into the bundle byte for byte: `confidence.png` or one of `source/…`.
    struct Carried {
        let entry: ManifestEntry
        let content: PayloadContent

        init(_ path: EntryPath, mediaType: String? = nil, _ bytes: [UInt8]) throws(BundleError) {
            entry = ManifestEntry(path: path, mediaType: mediaType, size: bytes.count, sha256: try Digest.of(bytes))
            content = .bytes(bytes)
        }
    }

    /// The layout and the frame from which a capture comes, for reports.
    struct Origin: Sendable {
        let layout: String
        let frame: String?
    }

    let origin: Origin
    let photo: Photo
    let depth: Depth?
    let carried: [Carried]
    /// The file to which messages about the metadata belong.
    let metadataFile: FilePath
    /// The metadata without `location`, in canonical form.
    let metadata: [UInt8]
    let capturedAt: CaptureTime
    let deviceModel: String
    /// The position after the location policy was applied.
    let position: GeoPosition?
    /// Remarks for the user: a `warning` if something may be refused or may leak, a note for the rest.
    package internal(set) var remarks: [Remark]
    /// The entries that the user marks as withholdable.
    private(set) var withholdable = EntrySelection()
}

extension RawCapture {
    /// Marks entries as withholdable.
    ///
    /// - Throws: `raw.capture` for an entry that the capture does not have.
    func marking(_ selection: EntrySelection, in raw: FilePath) throws(BundleError) -> RawCapture {
        var paths = [EntryPath.photo] + carried.map(\.entry.path)
        if depth != nil { paths.append(.depth) }
        if position != nil { paths.append(.location) }
        if let absent = selection.items.first(where: { item in !paths.contains(where: item.contains) }) {
            let has = paths.sorted().map(\.description).joined(separator: ", ")
            throw BundleError(
                .rawCapture, "--withholdable names \(absent), which is not in this capture; the capture has \(has)",
                file: raw)
        }
        var marked = self
        marked.withholdable = selection
        return marked
    }
}

/// Collects remarks.
struct RemarkList {
    private(set) var remarks: [Remark] = []

    mutating func add(_ weight: Remark.Weight, _ code: String, _ file: FilePath, _ message: String) {
        remarks.append(Remark(weight: weight, code: code, file: file.string, message: message))
    }
}

/// A fact that the user should know and that does not stop packing.
public struct Remark: Hashable, Sendable {
    public enum Weight: String, Sendable { case note, warning }

    public let weight: Weight
    /// A dotted word for programs; Spec/command-line.md lists them.
    public let code: String
    /// The file to which the remark belongs.
    public let file: String
    public let message: String
}
