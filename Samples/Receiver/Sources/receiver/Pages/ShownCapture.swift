import CaptureBundle

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
    let pictures: BundlePictures.Made
    let download: Download

    /// The approximate number of bytes in memory.
    var bytes: Int { (pictures.photo?.bytes.count ?? 0) + (pictures.depth?.bytes.count ?? 0) + 1000 }
}
