import CaptureBundle
package import CapturePages

extension BundlePictures {
    /// Makes the pictures of a bundle for its card.
    ///
    /// - Returns: The pictures, and the reason why a picture of a sound bundle is missing; nil if none is missing.
    package func cardPictures(of view: BundleView) -> (pictures: [ReportPicture], reason: String?) {
        let made = pictures(of: view)
        let photo = made.photo.map { ReportPicture($0, words: "Photo of this capture", caption: "Photo") }
        let depth = made.depth.map { picture in
            let ends = made.depthSpan.map { span in
                [span.lowerBound, span.upperBound].map { Quantity.decimal(Double($0), places: 2) }
            }
            let caption =
                ends.map { "Depth \($0[0]) to \($0[1]) m (2nd to 98th percentile), near is bright" }
                ?? "Depth, no measured sample"
            return ReportPicture(
                picture, words: "Depth map in false colours: near is bright, far is dark, grey is not measured",
                caption: "\(caption)")
        }
        return ([photo, depth].compactMap(\.self), made.reason)
    }
}
