import CaptureNative

/// The form of a body for RealityCam: metadata, depth map and photo (Spec/upload.md section 6.1).
package struct RealityCamForm: BodyForm {
    /// Makes the assertion of the metadata part from its client data.
    package typealias AssertionMaker = @Sendable (_ clientData: [UInt8]) throws -> Assertion

    private let assertion: AssertionMaker?

    package init(assertion: AssertionMaker?) { self.assertion = assertion }

    package static let boundaryPrefix = Array("realitycam-".utf8)
    package var boundaryPrefix: [UInt8] { Self.boundaryPrefix }

    /// The limits of the server's handler.
    private static let photoLimit = 10_485_760
    private static let depthLimit = 5_242_880
    private static let longestSide = 1000
    /// The maximum size of a body for a server with default settings.
    package static let stockLimit = 2_097_152

    package static let metadataHeader = BodyPart.header(
        name: "metadata", filename: "metadata.json", type: "application/json")
    private static let depthHeader = BodyPart.header(name: "depth_map", filename: "depth.gz", type: "application/gzip")
    private static let photoHeader = BodyPart.header(name: "photo", filename: "photo.jpg", type: "image/jpeg")

    /// Builds the client data of the assertion from two strings of the metadata part.
    package static func clientData(photoHash: String, capturedAt: String) -> [UInt8] {
        Array("\(photoHash)|\(capturedAt)".utf8)
    }

    package func made(from facts: BodyFacts) throws(BundleError) -> [(header: [UInt8], data: [UInt8])] {
        let photoHash = try Self.sendablePhoto(facts).sha256.description
        let clientData = Self.clientData(photoHash: photoHash, capturedAt: facts.manifest.capturedAt.description)
        let made = try native { try assertion?(clientData) }
        let metadata = UploadMetadata.encode(
            manifest: facts.manifest, deviceModel: facts.deviceModel, position: facts.position,
            assertion: made?.encode(), photoHash: photoHash)
        return [(Self.metadataHeader, metadata)]
    }

    package func header(of entry: ManifestEntry) -> [UInt8]? {
        switch entry.path {
        case .depth: Self.depthHeader
        case .photo: Self.photoHeader
        default: nil
        }
    }

    /// Returns the entry of the photo, and refuses a bundle that no RealityCam server accepts.
    ///
    /// - Throws: `entry.absent`, `output.unusable`.
    private static func sendablePhoto(_ facts: BodyFacts) throws(BundleError) -> ManifestEntry {
        // The manifest also lists entries that were withheld.
        func held(_ path: EntryPath) -> ManifestEntry? { facts.entries.first { $0.path == path } }
        guard let photo = held(.photo) else { throw lacking(.photo) }
        guard let depth = held(.depth), let size = facts.manifest.depth?.size else { throw lacking(.depth) }
        for (entry, limit) in [(photo, photoLimit), (depth, depthLimit)] where entry.size > limit {
            throw refused("\(entry.path) has \(entry.size) bytes, and RealityCam takes at most \(limit)")
        }
        if max(size.width, size.height) > longestSide {
            throw refused(
                "its depth map is \(size.width)x\(size.height), and RealityCam takes sides of at most \(longestSide)")
        }
        return photo
    }

    private static func lacking(_ path: EntryPath) -> BundleError {
        BundleError(.entryAbsent, "the bundle has no \(path), which RealityCam requires")
    }

    private static func refused(_ reason: String) -> BundleError {
        BundleError(.outputUnusable, "this bundle cannot be sent to RealityCam: \(reason)")
    }

    package func remarks(_ facts: BodyFacts, bodyBytes: Int) -> [String] {
        var remarks: [String] = []
        if bodyBytes > Self.stockLimit {
            remarks.append(
                "has \(bodyBytes) bytes; a RealityCam server with default settings refuses more than \(Self.stockLimit)"
            )
        }
        if let size = facts.manifest.depth?.size, !Self.isKnown(width: size.width, height: size.height) {
            remarks.append("has a \(size.width)x\(size.height) depth map, a size that RealityCam does not know")
        }
        if !Self.isKnown(model: facts.deviceModel) {
            remarks.append(
                "names a device_model other than an iPhone 12 Pro to 17 Pro, so RealityCam does not verify it")
        }
        return remarks
    }

    /// Whether the server knows the size of a depth map: one of four, with a tolerance of 10 samples on each side.
    static func isKnown(width: Int, height: Int) -> Bool {
        [(256, 192), (320, 240), (640, 480), (384, 288)].contains { known in
            abs(width - known.0) <= 10 && abs(height - known.1) <= 10
        }
    }

    /// Whether the server verifies a model: the text contains one of six names, ignoring case and spaces.
    static func isKnown(model: String) -> Bool {
        let letters = Array(model.lowercased().utf8.filter { $0 != UInt8(ascii: " ") })
        return (12...17).contains { ByteSearch.first(Array("iphone\($0)pro".utf8), in: letters.span, from: 0) != nil }
    }
}

/// The app that a RealityCam server expects, `TEAM.BUNDLE` in its settings.
public enum RealityCamRPID {
    /// The app that a RealityCam server with default settings expects. The server writes this text as it is: the ten X
    /// stand where a team has its number.
    public static let usual = "XXXXXXXXXX.com.realitycam.app"

    /// Whether the text has the form `TEAM.BUNDLE`: two or more words of letters, digits and hyphens.
    public static func isWellFormed(_ text: String) -> Bool {
        let words = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return words.count >= 2 && text.utf8.count <= 255
            && words.allSatisfy { word in
                !word.isEmpty
                    && word.allSatisfy { (0x41...0x5a).contains($0) || $0 == 0x2d || EntryPath.isAlphanumeric($0) }
            }
    }
}
