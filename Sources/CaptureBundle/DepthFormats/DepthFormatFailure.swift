/// Bytes that are not the depth format that they should be. The message goes behind the name of the file.
package struct DepthFormatFailure: Error, Equatable {
    package let message: String

    init(_ message: String) { self.message = message }

    /// A size that no depth map has.
    static func side(_ width: Int, _ height: Int) -> DepthFormatFailure {
        DepthFormatFailure("has \(width)x\(height) samples, expected sides of 1 to \(BundleLimits.depthSide)")
    }

    /// Too few or too many bytes of samples.
    static func length(_ count: Int, _ size: DepthSize, sample: Int) -> DepthFormatFailure {
        let expected = sample * size.width * size.height
        return DepthFormatFailure("has \(count) bytes of samples, expected \(expected) for \(size) of \(sample) bytes")
    }
}
