import CaptureBundle
import CaptureNative

/// Keeps the photo, the position and the depth map of a bundle while it is verified.
final class ContentCollector: BundleObserver {
    /// The bytes of the photo; nil if the bundle has none, or if it is larger than the limit.
    private(set) var photo: [UInt8]?
    /// The size of the photo; nil if the bundle has none.
    private(set) var photoSize: Int?
    private let photoLimit: Int
    private var location: [UInt8] = []
    private var current: EntryPath?
    private var size: DepthSize?
    private var reader: DepthMapReader?
    private var collector: DepthCollector?

    /// - Parameter photoLimit: The maximum number of bytes of a photo that is kept; 0 keeps none.
    init(photoLimit: Int = 0) { self.photoLimit = photoLimit }

    func read(_ head: BundleReader.Head, _ manifest: Manifest) throws(BundleError) { size = manifest.depth?.size }

    func begin(_ entry: ManifestEntry) throws(BundleError) {
        current = entry.path
        if entry.path == .depth, let size {
            reader = try DepthMapReader(size: size)
            collector = DepthCollector(size: size)
        }
        guard entry.path == .photo else { return }
        photoSize = entry.size
        guard photoLimit > 0, entry.size <= photoLimit else { return }
        photo = []
        photo?.reserveCapacity(entry.size)
    }

    func consume(_ piece: Span<UInt8>) throws(BundleError) {
        switch current {
        case .depth?: try reader?.consume(piece) { collector?.add($0) }
        case .location?: location.append(copying: piece)
        case .photo?: photo?.append(copying: piece)
        default: break
        }
    }

    /// The depth map; nil if there is none or it could not be read to its end.
    var depth: DepthSamples? { reader?.fault == nil ? collector?.finish() : nil }

    /// The position; nil if there is none or it is malformed.
    var position: GeoPosition? { try? GeoPosition.decode(location) }
}
