import CaptureBundle

extension BundleError {
    /// Advice about files, folders, keys to trust and entries of a bundle.
    var adviceOnFiles: [String] {
        switch cause {
        default: []
        }
    }
}
