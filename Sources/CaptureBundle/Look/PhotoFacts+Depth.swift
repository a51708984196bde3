extension PhotoFacts {
    /// The orientation of the depth map beside this photo. It has that of the stored photo, unless the photo is to be
    /// turned by a quarter and the depth map already looks turned.
    package func orientation(ofDepth depth: DepthSize) -> Int {
        guard let orientation else { return 1 }
        guard (5...8).contains(orientation), let size else { return orientation }
        let isTurned =
            depth.width > depth.height && size.width < size.height
            || depth.width < depth.height && size.width > size.height
        return isTurned ? 1 : orientation
    }
}
