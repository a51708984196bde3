package import CaptureBundle
import CaptureNative
package import SystemPackage

/// A raw capture that was read and checked, but is not in a bundle yet.
package struct RawCapture {
    package struct Photo {
        package let file: FilePath
        package let content: PayloadContent
        package let size: Int
        package let sha256: Digest
        package let structure: JPEGStructure

        package init(
            file: FilePath, content: PayloadContent, size: Int, sha256: Digest, structure: JPEGStructure
        ) {
            (self.file, self.content, self.size) = (file, content, size)
            (self.sha256, self.structure) = (sha256, structure)
        }
    }

    package struct Depth {
        /// The depth values as Float32 little-endian, row-major, top row first, in metres.
        package let floats: PayloadContent
        package let size: DepthSize
        package let sha256: Digest
        /// The file of the raw capture that contains the samples; `source` describes its form.
        package let file: FilePath
        package let source: DepthDescription.Source

        package init(
            floats: PayloadContent, size: DepthSize, sha256: Digest, file: FilePath, source: DepthDescription.Source
        ) {
            (self.floats, self.size, self.sha256) = (floats, size, sha256)
            (self.file, self.source) = (file, source)
        }
    }

    /// An entry that is copied into the bundle byte for byte: `confidence.png` or one of `source/…`.
    package struct Carried {
        package let entry: ManifestEntry
        package let content: PayloadContent

        package init(_ path: EntryPath, mediaType: String? = nil, _ bytes: [UInt8]) throws(BundleError) {
            entry = ManifestEntry(path: path, mediaType: mediaType, size: bytes.count, sha256: try Digest.of(bytes))
            content = .bytes(bytes)
        }
    }

    /// The layout and the frame from which the capture comes, for reports.
    package let layout: String
    package let frame: String?
    package let photo: Photo
    package let depth: Depth?
    package let carried: [Carried]
    /// The file to which messages about the metadata belong.
    package let metadataFile: FilePath
    /// The metadata without `location`, in canonical form.
    package let metadata: [UInt8]
    package let capturedAt: CaptureTime
    package let deviceModel: String
    /// The position after the location policy was applied.
    package let position: GeoPosition?
    /// Remarks for the user: a `warning` if something may be refused or may leak, a note for the rest.
    package var remarks: [Remark]
    /// The entries that the user marks as withholdable.
    package private(set) var withholdable = EntrySelection()

    package init(
        layout: String, frame: String?, photo: Photo, depth: Depth?, carried: [Carried], metadataFile: FilePath,
        metadata: [UInt8], capturedAt: CaptureTime, deviceModel: String, position: GeoPosition?, remarks: [Remark]
    ) {
        (self.layout, self.frame) = (layout, frame)
        (self.photo, self.depth, self.carried) = (photo, depth, carried)
        (self.metadataFile, self.metadata) = (metadataFile, metadata)
        (self.capturedAt, self.deviceModel, self.position) = (capturedAt, deviceModel, position)
        self.remarks = remarks
    }
}

extension RawCapture {
    /// Marks entries as withholdable.
    ///
    /// - Throws: `raw.capture` for an entry that the capture does not have.
    package func marking(_ selection: EntrySelection, in raw: FilePath) throws(BundleError) -> RawCapture {
        let more: [EntryPath] = (depth == nil ? [] : [.depth]) + (position == nil ? [] : [.location])
        let paths = [.photo] + carried.map(\.entry.path) + more
        if let absent = selection.items.first(where: { item in !paths.contains(where: item.contains) }) {
            let has = paths.sorted().map(\.description).joined(separator: ", ")
            throw BundleError(
                .rawCapture,
                "--withholdable names \(absent), which is not in this capture; the capture has \(has)", file: raw)
        }
        var marked = self
        marked.withholdable = selection
        return marked
    }
}

extension [Remark] {
    package mutating func add(_ weight: Remark.Weight, _ code: String, file: FilePath, message: String) {
        append(Remark(weight: weight, code: code, file: file.string, message: message))
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
