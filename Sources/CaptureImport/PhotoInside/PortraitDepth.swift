import CaptureBundle
import PictureClient
import PictureMessages

/// The depth in an Apple portrait photo: an 8-bit grey auxiliary picture, and what XMP says about its values.
///
/// Only the XMP says which picture of a photo has the depth, because the number and order of pictures differ between
/// devices: a gain map or a matte can come before the disparity.
package struct PortraitDepth: Sendable {
    /// The range of the auxiliary picture in a JPEG file; it is a JPEG of its own. For HEIF the range is empty.
    package let picture: Range<Int>
    package let codes: DepthCodes
    /// The accuracy in Apple's words, `relative` or `absolute`; nil if XMP does not give it.
    package let accuracy: String?
    /// In pixels of a picture of the reference size.
    package let intrinsics: CameraIntrinsics?

    private static let pixelData = "http://ns.apple.com/pixeldatainfo/1.0/"
    private static let depthData = "http://ns.apple.com/depthData/1.0/"

    /// Finds the depth in a JPEG file; nil if the file has no depth in this form.
    package static func find(in jpeg: [UInt8]) -> PortraitDepth? {
        guard let first = JPEGSegments(jpeg) else { return nil }
        for case let range? in MultiPictureIndex.entries(in: jpeg, first: first) {
            guard let image = JPEGSegments(jpeg, at: range.lowerBound), let xmp = XMPPacket.read(jpeg, image) else {
                continue
            }
            if let depth = PortraitDepth(xmp, picture: range) { return depth }
        }
        for image in MultiPictureIndex.walk(jpeg).images.dropFirst() {
            guard let end = image.end, let xmp = XMPPacket.read(jpeg, image) else { continue }
            if let depth = PortraitDepth(xmp, picture: image.start..<end) { return depth }
        }
        return nil
    }

    /// Reads the XMP of an auxiliary picture; nil unless it describes 8-bit depth or disparity.
    package init?(_ xmp: XMPPacket, picture: Range<Int> = 0..<0) {
        func number(_ namespace: String, _ name: String) -> Double? {
            xmp.text(namespace, name).flatMap { Double($0) }.flatMap { $0.isFinite ? $0 : nil }
        }
        // A matte calls itself `depth` too, but it has a subtype and no floats.
        guard let type = xmp.text(Self.pixelData, "AuxiliaryImageType"), type == "disparity" || type == "depth",
            xmp.texts(Self.pixelData, "AuxiliaryImageSubType") == nil,
            let codes = DepthCodes(
                minimum: number(Self.pixelData, "FloatMinValue"), maximum: number(Self.pixelData, "FloatMaxValue"),
                isDisparity: type == "disparity"),
            // The format of the samples before the device converted them to 8-bit codes.
            let format = xmp.text(Self.pixelData, "NativeFormat").flatMap({ UInt32($0) }),
            (type == "disparity" ? ["hdis", "fdis"] : ["hdep", "fdep"]).map(Self.code).contains(format)
        else { return nil }
        // All known files use the codes 0 to 255.
        guard number(Self.pixelData, "IntMinValue") ?? 0 == 0, number(Self.pixelData, "IntMaxValue") ?? 255 == 255
        else {
            return nil
        }
        self.picture = picture
        self.codes = codes
        accuracy = xmp.text(Self.depthData, "Accuracy").flatMap { ["relative", "absolute"].contains($0) ? $0 : nil }
        // The matrix is column-major: fx 0 0, 0 fy 0, cx cy 1.
        let matrix = (xmp.texts(Self.depthData, "IntrinsicMatrix") ?? []).compactMap { Double($0) }
        let sides = ["IntrinsicMatrixReferenceWidth", "IntrinsicMatrixReferenceHeight"].compactMap {
            xmp.text(Self.depthData, $0).flatMap { Int($0) }
        }
        if matrix.count == 9, matrix.allSatisfy(\.isFinite), matrix[0] > 0, matrix[4] > 0, sides.count == 2,
            sides.allSatisfy({ (1...PixelImage.sideLimit).contains($0) })
        {
            intrinsics = CameraIntrinsics(
                fx: matrix[0], fy: matrix[4], cx: matrix[6], cy: matrix[7], width: sides[0], height: sides[1])
        } else {
            intrinsics = nil
        }
    }

    /// The number as which four letters are written: `hdis` is 1751411059.
    private static func code(_ letters: String) -> UInt32 { letters.utf8.reduce(0) { $0 << 8 | UInt32($1) } }
}

/// What the codes 0 to 255 of a depth map inside a photo mean.
package struct DepthCodes: Sendable {
    /// The value of the code 0; `maximum` is that of the code 255.
    package let minimum: Double
    package let maximum: Double
    /// Whether the values are disparity in 1/metres, not metres.
    package let isDisparity: Bool

    /// nil if a value is missing, `minimum` is above `maximum`, or `minimum` or the difference is not finite as a `Float`.
    package init?(minimum: Double?, maximum: Double?, isDisparity: Bool?) {
        guard let minimum, let maximum, minimum <= maximum, Float(minimum).isFinite,
            Float(maximum - minimum).isFinite, let isDisparity
        else { return nil }
        (self.minimum, self.maximum, self.isDisparity) = (minimum, maximum, isDisparity)
    }

    /// Converts codes to metres. A value that is not positive, or whose distance is not finite, becomes 0, which
    /// means "not measured".
    ///
    /// The order and the precision of the operations are those with which Apple's own floats result, bit for bit.
    package func metres(_ codes: [UInt8]) -> [Float] {
        let range = Float(maximum - minimum)
        let values = (0...255).map { code in
            let value = Float(code) / 255 * range + Float(minimum)
            if !(value > 0) { return Float(0) }
            let metres = isDisparity ? 1 / value : value
            return metres.isFinite ? metres : 0
        }
        return codes.map { values[Int($0)] }
    }
}
