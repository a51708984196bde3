import CaptureBundle
import CapturePages
import Hummingbird

struct ShownCapture: Sendable {
    let row: CaptureRow
    /// The device as it is registered now; nil if it is not registered any more.
    let device: RegisteredDevice?
    let checked: CheckedBundle
    /// Whether the stored bytes are those that arrived.
    let isAsItArrived: Bool
    /// Whether the reader may see the position and all that may be withheld.
    let seesAll: Bool
    let publicURL: PublicURL

    var report: VerificationReport { checked.report }
    var photo: PagePicture? { hides(.photo) ? nil : checked.photo }
    var depth: PagePicture? { hides(.depth) ? nil : checked.depth }

    /// The entries that are in the bundle, but not for this reader.
    var hidden: [EntryPath] {
        guard !seesAll, let manifest = report.manifest else { return [] }
        return manifest.entries.filter { $0.isWithholdable || $0.path == .location }.map(\.path)
            .filter { !report.withheld.contains($0) }
    }

    func hides(_ path: EntryPath) -> Bool { hidden.contains(path) }
}

/// What was found in the bytes of a bundle. It depends only on the bytes and on the device's line of the
/// trust file, so it is cached.
struct CheckedBundle: Sendable {
    let report: VerificationReport
    let photo: PagePicture?
    let depth: PagePicture?
    /// A small photo, or a small depth map if there is no photo.
    let thumbnail: PagePicture?
    /// The depths of the brightest and the darkest colour in metres.
    let depthSpan: ClosedRange<Float>?
    let depthStatistics: DepthStatistics?
    let position: GeoPosition?
    /// Whether a picture could not be made.
    let lacksPicture: Bool
    /// Why only the operator may have the bundle; nil if anyone may have a copy without what may be withheld.
    let refusal: String?

    var isSound: Bool { ![.altered, .malformed].contains(report.verdict) }

    /// The approximate number of bytes in memory.
    var bytes: Int {
        let entries = report.manifest?.entries ?? []
        let metadata = entries.first { $0.path == .metadata }?.size ?? 0
        return [photo, depth, thumbnail].reduce(2000 + 500 * entries.count + 10 * metadata) { $0 + ($1?.size ?? 0) }
    }
}

/// A picture of a page. All responses share its bytes, however slowly they are read.
struct PagePicture: Sendable {
    let width: Int
    let height: Int
    private let buffer: ByteBuffer

    init?(_ picture: BundlePicture?) {
        guard let picture else { return nil }
        width = picture.width
        height = picture.height
        buffer = ByteBuffer(bytes: picture.bytes)
    }

    var size: Int { buffer.readableBytes }

    func response() -> Response {
        var headers = PageHeaders.of("image/jpeg")
        // A capture never changes, so neither do its pictures.
        headers[.cacheControl] = "private, max-age=86400, immutable"
        return Response(status: .ok, headers: headers, body: .init(byteBuffer: buffer))
    }
}
