import CaptureBundle

extension BundleError {
    /// Advice about the device key, its chain and its counter.
    var adviceOnDevice: [String] {
        switch cause {
        default: []
        }
    }
}
