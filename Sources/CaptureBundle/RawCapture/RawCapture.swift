import CaptureNative
import SystemPackage

/// A capture from a raw folder, read and checked but not yet in a bundle.
package struct RawCapture {
    struct Photo {
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
    }

    let folder: FilePath
    let photo: Photo
    let depth: Depth?
    /// The metadata without `location`, in canonical form.
    let metadata: [UInt8]
    let capturedAt: CaptureTime
    let deviceModel: String
    /// The position after the location policy was applied.
    let position: GeoPosition?
    /// Remarks for the user: a `warning` if something may be refused or may leak, a note for the rest.
    package let remarks: [Remark]
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

/// The options for reading a raw folder.
public struct RawCaptureOptions: Sendable {
    /// The size that the user gave. It must agree with metadata.json.
    public var depthSize: DepthSize?
    public var withoutDepth: Bool
    public var location: LocationPolicy

    public init(depthSize: DepthSize? = nil, withoutDepth: Bool = false, location: LocationPolicy = .exact) {
        self.depthSize = depthSize
        self.withoutDepth = withoutDepth
        self.location = location
    }
}
