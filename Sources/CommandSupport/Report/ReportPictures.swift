package import CaptureBundle
import Synchronization

/// Makes the small pictures of cards: the photo, and the depth map in false colours, both upright. Several threads may
/// use it.
package final class ReportPictures: Sendable {
    private let decoder = PictureDecoder()
    private let lack = Mutex<PictureFailure?>(nil)

    package init() {}

    /// What is missing on this machine to make pictures; nil if nothing is.
    package var failure: PictureFailure? { lack.withLock(\.self) }

    /// The pictures of a bundle.
    ///
    /// - Returns: Nothing for a bundle that is not sound. `reason` says why a picture is missing.
    package func pictures(of view: BundleView) -> (pictures: [ReportPicture], reason: String?) {
        ([], nil)
    }
}
