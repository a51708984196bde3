import CaptureNative
import SystemPackage

/// A capture as a device left it, read and judged, not yet in a bundle.
package struct RawCapture {
    struct Photo {
        let content: PayloadContent
        let size: Int
        let sha256: Digest
        let holdsPosition: Bool
    }

    struct Depth {
        /// Float32 little-endian, row-major, top row first, metres.
        let floats: PayloadContent
        let size: DepthSize
        let sha256: Digest
    }

    let folder: FilePath
    let photo: Photo
    let depth: Depth?
    /// Without `location`, in canonical form.
    let metadata: [UInt8]
    let capturedAt: CaptureTime
    let deviceModel: String
    /// After the location policy.
    let position: GeoPosition?
    /// What the user should know, said once: `warning` for what may be refused or leak, a note for the rest.
    package let remarks: [Remark]
}

/// Something that the user should know and that stops nothing.
public struct Remark: Hashable, Sendable {
    public enum Weight: String, Sendable { case note, warning }

    public let weight: Weight
    /// A dotted word for programs, listed in Spec/command-line.md.
    public let code: String
    /// The file that it is about.
    public let file: String
    public let message: String
}

/// How a raw folder is read.
public struct RawCaptureOptions: Sendable {
    /// Given by the user; must agree with metadata.json.
    public var depthSize: DepthSize?
    public var withoutDepth: Bool
    public var location: LocationPolicy

    public init(depthSize: DepthSize? = nil, withoutDepth: Bool = false, location: LocationPolicy = .exact) {
        self.depthSize = depthSize
        self.withoutDepth = withoutDepth
        self.location = location
    }
}
