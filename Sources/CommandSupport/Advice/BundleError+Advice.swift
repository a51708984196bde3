package import CaptureBundle

extension BundleError {
    /// What the user can do about the error: sentences with our commands and options, computed from its code, cause and place.
    package var advice: [String] {
        hints.map(\.sentence) + adviceOnFiles + adviceOnDevice + adviceOnCapture + adviceOnPictures
    }
}
