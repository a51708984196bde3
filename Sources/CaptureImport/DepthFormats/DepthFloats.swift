import CaptureBundle

/// A depth map in the form for a bundle.
struct DepthFloats {
    /// Float32 little-endian, row-major, top row first, in metres.
    let floats: [UInt8]
    let size: DepthSize
    /// The form of the original file.
    let source: DepthDescription.Source
    /// How many samples are missing because they were the highest number of an integer.
    var maxCount = 0
}
