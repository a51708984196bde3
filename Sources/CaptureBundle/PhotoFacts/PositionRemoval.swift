/// Takes the position out of a JPEG photo without encoding it again.
///
/// Nothing moves and the length stays: GPS fields become zeros, and a segment of XMP, IPTC or another kind that tells a
/// place becomes a comment of spaces of the same length. All pictures keep their compressed data.
package enum PositionRemoval {
    /// The namespaces of XMP that describes depth, which must stay.
    private static let depthNamespaces = [
        "http://ns.apple.com/pixeldatainfo/1.0/", "http://ns.apple.com/depthData/1.0/",
        "http://ns.google.com/photos/1.0/depthmap/", "http://ns.google.com/photos/1.0/camera/",
        "http://ns.google.com/photos/dd/1.0/depthmap/", "http://ns.google.com/photos/dd/1.0/device/",
    ]

    /// Returns the photo without its position.
    ///
    /// - Throws: `raw.capture`, without a file, if the photo is built so that its position cannot be taken out this way.
    package static func apply(to jpeg: [UInt8]) throws(BundleError) -> [UInt8] {
        let (images, end) = MultiPictureIndex.walk(jpeg)
        guard let first = images.first else { throw refusal("its structure is broken") }
        guard end == jpeg.count else {
            throw refusal("other data follow its pictures, from byte \(end) to byte \(jpeg.count)")
        }
        let starts = Set(images.map(\.start))
        for picture in MultiPictureIndex.images(in: jpeg, first: first) where !starts.contains(picture.lowerBound) {
            throw refusal("its index names a picture at byte \(picture.lowerBound) that is not one of its pictures")
        }
        var bytes = jpeg
        for image in images { try clean(image, in: &bytes) }
        if let words = PlacesTold.tellsAPosition(bytes, kind: .jpeg) { throw refusal("\(words) where it must stay") }
        return bytes
    }

    private static func refusal(_ message: String) -> BundleError {
        BundleError(
            .rawCapture, "has a position that cannot be taken out without encoding it again: \(message)",
            hints: ["use --keep-photo-location if the position may stay in the photo"])
    }

    private static func clean(_ image: JPEGSegments, in bytes: inout [UInt8]) throws(BundleError) {
        for place in SegmentPlaces(bytes, image).found {
            guard place.segment.range.lowerBound < image.scan ?? 0 else {
                throw refusal("\(place.words) between the parts of its picture")
            }
            guard place.kind != .exif else { continue }
            if place.kind == .xmp || place.kind == .extendedXMP { try checkDepth(place, image, bytes) }
            bytes[place.segment.range.lowerBound + 1] = 0xfe
            for index in place.segment.data { bytes[index] = 0x20 }
        }
        for segment in image.segments(0xe1, beginningWith: SegmentPlaces.exifHeader, in: bytes) {
            let start = segment.data.lowerBound + SegmentPlaces.exifHeader.count
            guard let tiff = TIFFStructure(Array(bytes[start..<segment.data.upperBound])) else { continue }
            do throws(GPSRemoval.Failure) {
                bytes.replaceSubrange(start..<segment.data.upperBound, with: try GPSRemoval.apply(to: tiff))
            } catch { throw refusal(error.message) }
        }
    }

    /// Refuses XMP that also describes depth: without it, the depth could not be read.
    private static func checkDepth(
        _ place: SegmentPlaces.Found, _ image: JPEGSegments, _ bytes: [UInt8]
    ) throws(BundleError) {
        let describesDepth: Bool
        if let xmp = XMPPacket.read(bytes, image) {
            describesDepth = depthNamespaces.contains { xmp.uses($0) }
        } else {
            let lower = Array(String(decoding: bytes[place.segment.data], as: UTF8.self).lowercased().utf8)
            describesDepth = String(decoding: lower, as: UTF8.self).contains("depth")
        }
        if describesDepth { throw refusal("\(place.words), in the XMP that describes its depth") }
    }
}
