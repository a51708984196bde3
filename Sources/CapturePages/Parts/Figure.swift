import CaptureBundle

/// A picture of a page with its caption.
public struct Figure: Sendable {
    /// The value of the attribute `src`.
    private let source: HTML
    private let width: Int
    private let height: Int
    /// The alternative text for those who cannot see the picture.
    private let words: String
    private let caption: HTML

    /// The photo of a capture.
    ///
    /// - Parameter source: The address of the picture.
    public static func photo(_ source: HTML, width: Int, height: Int, caption: HTML) -> Figure {
        Figure(source: source, width: width, height: height, words: "Photo of this capture", caption: caption)
    }

    /// The depth map of a capture in false colours.
    ///
    /// - Parameter source: The address of the picture.
    public static func depth(_ source: HTML, width: Int, height: Int, caption: HTML) -> Figure {
        Figure(
            source: source, width: width, height: height,
            words: "Depth map in false colours: near is bright, far is dark, grey is not measured", caption: caption)
    }

    /// The caption of a depth map with the scale of its colours.
    ///
    /// - Parameter span: The depths of the brightest and the darkest colour in metres; nil if no sample is measured.
    public static func scale(_ span: ClosedRange<Float>?) -> HTML {
        guard let span else { return "The depth map. No sample is measured." }
        return """
            The depth map in false colours. Grey is not measured.<span class="scale"></span>\
            <span class="ends"><span>\(Rounded.metres(span.lowerBound)) m (near)</span>\
            <span>\(Rounded.metres(span.upperBound)) m (far)</span></span>
            """
    }

    private var html: HTML {
        """
        <figure\(height > width ? " class=\"tall\"" : nil as HTML?)><img src="\(source)" width="\(width)" \
        height="\(height)" alt="\(words)" decoding="async"><figcaption>\(caption)</figcaption></figure>

        """
    }

    /// Pictures side by side; nothing if there are none.
    public static func html(_ figures: [Figure]) -> HTML? {
        figures.isEmpty ? nil : "<div class=\"pictures\">\n\(figures.map(\.html))</div>\n"
    }
}

extension BundlePictures {
    /// Makes the pictures of a bundle for its card. The page contains their bytes.
    ///
    /// - Returns: The pictures, and the reason why a picture of a sound bundle is missing; nil if none is missing.
    package func cardFigures(of view: BundleView) -> (figures: [Figure], reason: String?) {
        let made = pictures(of: view)
        let photo = made.photo.map { Figure.photo($0.data, width: $0.width, height: $0.height, caption: "Photo") }
        let depth = made.depth.map { picture in
            let ends = made.depthSpan.map { "\(Rounded.metres($0.lowerBound)) to \(Rounded.metres($0.upperBound)) m" }
            let caption = ends.map { "Depth \($0) (2nd to 98th percentile), near is bright" }
            return Figure.depth(
                picture.data, width: picture.width, height: picture.height,
                caption: "\(caption ?? "Depth, no measured sample")")
        }
        return ([photo, depth].compactMap(\.self), made.reason)
    }
}

extension BundlePicture {
    fileprivate var data: HTML { "\(file: bytes, type: "image/jpeg")" }
}
