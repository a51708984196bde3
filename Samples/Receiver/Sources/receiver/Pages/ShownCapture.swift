import CaptureBundle
import CapturePages
import Hummingbird

/// Everything that the page about a capture shows. All of it comes from one reading of the stored bundle.
struct ShownCapture: Sendable {
    let row: CaptureRow
    /// The device as it is registered now; nil if it is not registered any more.
    let device: RegisteredDevice?
    let view: BundleView
    let content: PreparedContent
    /// Whether the operator hides the place of all captures.
    let hidesPlace: Bool
    /// Whether this receiver has the page that verifies bundles.
    let hasVerifyPage: Bool

    var report: VerificationReport { view.report }
}

/// What is made from the bytes of a sound bundle. It never changes, so it is made once and kept for some time.
struct PreparedContent: Sendable {
    let photo: PagePicture?
    let depth: PagePicture?
    /// The depths of the brightest and the darkest colour in metres.
    let depthSpan: ClosedRange<Float>?
    /// Whether a picture could not be made.
    let lacksPicture: Bool
    let download: Download

    init(_ pictures: BundlePictures.Made, _ download: Download) {
        photo = pictures.photo.map { PagePicture($0) }
        depth = pictures.depth.map { PagePicture($0) }
        depthSpan = pictures.depthSpan
        lacksPicture = pictures.reason != nil
        self.download = download
    }

    /// The approximate number of bytes in memory.
    var bytes: Int { (photo?.size ?? 0) + (depth?.size ?? 0) + 1000 }
}

/// A picture of a page. All responses share its bytes, however slowly they are read.
struct PagePicture: Sendable {
    let width: Int
    let height: Int
    private let buffer: ByteBuffer

    init(_ picture: BundlePicture) {
        width = picture.width
        height = picture.height
        buffer = ByteBuffer(bytes: picture.bytes)
    }

    var size: Int { buffer.readableBytes }

    func response() -> Response {
        Response(status: .ok, headers: PageHeaders.picture, body: .init(byteBuffer: buffer))
    }
}
