import CaptureBundle

extension BundleError {
    /// Advice about a raw capture.
    var adviceOnCapture: [String] {
        switch cause {
        default: []
        }
    }
}
