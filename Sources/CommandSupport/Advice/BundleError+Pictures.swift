import CaptureBundle

extension BundleError {
    /// Advice about the program that decodes pictures, or what it refuses.
    var adviceOnPictures: [String] {
        switch cause {
        default: []
        }
    }
}
