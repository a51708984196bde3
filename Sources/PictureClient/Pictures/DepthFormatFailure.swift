package import CaptureBundle

/// The error for a depth file that breaks the rules of its format. The message continues a sentence that begins with the
/// name of the file.
package struct DepthFormatFailure: Error, Equatable {
    package let message: String

    package init(_ message: String) { self.message = message }

    /// The failure for a side of 0 or one above the limit.
    package static func side(_ width: Int, _ height: Int) -> DepthFormatFailure {
        DepthFormatFailure("has \(width)x\(height) samples, expected sides of 1 to \(BundleLimits.depthSide)")
    }

    /// The failure for too few or too many bytes of samples.
    package static func length(_ count: Int, _ size: DepthSize, sample: Int) -> DepthFormatFailure {
        let expected = sample * size.width * size.height
        return DepthFormatFailure(
            "has \(count) bytes of samples, expected \(expected) for \(size) samples of \(sample) bytes")
    }
}
