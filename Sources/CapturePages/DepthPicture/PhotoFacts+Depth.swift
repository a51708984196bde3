package import CaptureBundle

extension PhotoFacts {
    /// The orientation of the depth map of this photo: the photo's own, because both are stored alike. The exception is
    /// a depth map that is already upright: EXIF turns the photo by a quarter, and the sides of the depth map are those
    /// of the turned photo. Its orientation is 1.
    package func orientation(ofDepth depth: DepthSize) -> Int {
        guard let orientation else { return 1 }
        guard (5...8).contains(orientation), let size else { return orientation }
        let isTurned =
            depth.width > depth.height && size.width < size.height
            || depth.width < depth.height && size.width > size.height
        return isTurned ? 1 : orientation
    }
}
