/// Removes the position from a JPEG photo without encoding the photo again.
///
/// No segment moves, and the length of the file stays the same. GPS fields become zeros. A segment of XMP, IPTC or another
/// kind that contains a position becomes a comment of spaces with the same length. The compressed data of all pictures
/// stay unchanged.
package enum PositionRemoval {
    /// The namespaces of XMP that describes depth. Such XMP must stay.
    private static let depthNamespaces = [
        "http://ns.apple.com/pixeldatainfo/1.0/", "http://ns.apple.com/depthData/1.0/",
        "http://ns.google.com/photos/1.0/depthmap/", "http://ns.google.com/photos/1.0/camera/",
        "http://ns.google.com/photos/dd/1.0/depthmap/", "http://ns.google.com/photos/dd/1.0/device/",
    ]

    /// Returns the photo without its position.
    ///
    /// - Throws: `raw.capture`, without a file, if the position cannot be removed in this way.
    package static func apply(to jpeg: [UInt8]) throws(BundleError) -> [UInt8] {
        let (images, end) = MultiPictureIndex.walk(jpeg)
        guard let first = images.first else { throw refusal("its structure is broken") }
        guard end == jpeg.count else {
            throw refusal("it has other data after its pictures, from byte \(end) to byte \(jpeg.count)")
        }
        let starts = Set(images.map(\.start))
        for picture in MultiPictureIndex.images(in: jpeg, first: first) where !starts.contains(picture.lowerBound) {
            throw refusal("its index names a picture at byte \(picture.lowerBound), but no picture begins there")
        }
        var bytes = jpeg
        for image in images { try clean(image, in: &bytes) }
        if let words = PlacesTold.tellsAPosition(bytes, kind: .jpeg) {
            throw refusal("\(words) in a part that cannot be changed")
        }
        return bytes
    }

    private static func refusal(_ message: String) -> BundleError {
        BundleError(
            .rawCapture, "has a position that cannot be taken out without encoding the photo again: \(message)",
            hints: ["use --keep-photo-location if the position may stay in the photo"])
    }

    private static func noteRefusal(_ message: String) -> BundleError {
        BundleError(
            .rawCapture, "has maker notes that cannot be taken out without encoding the photo again: \(message)",
            hints: ["leave out --rewrite-photo if they may stay in the photo"])
    }

    private static func clean(_ image: JPEGSegments, in bytes: inout [UInt8]) throws(BundleError) {
        let found = SegmentPlaces(bytes, image).found
        if let place = found.first(where: { $0.kind == .xmp || $0.kind == .extendedXMP }) {
            try checkDepth(place, image, bytes)
        }
        for place in found {
            guard place.segment.range.lowerBound < image.scan ?? 0 else {
                throw refusal("\(place.words) in a segment between the parts of its picture")
            }
            guard place.kind != .exif else { continue }
            bytes[place.segment.range.lowerBound + 1] = 0xfe
            for index in place.segment.data { bytes[index] = 0x20 }
        }
        do throws(GPSRemoval.Failure) { try cleanEXIF(image, in: &bytes) } catch { throw refusal(error.message) }
    }

    /// Returns the photo in which all maker notes are zeros, except Apple's. They have forms that are not searched.
    ///
    /// - Throws: `raw.capture`, without a file, if a note cannot be removed in this way.
    package static func withoutMakerNotes(_ jpeg: [UInt8]) throws(BundleError) -> [UInt8] {
        let (images, end) = MultiPictureIndex.walk(jpeg)
        var bytes = jpeg
        do throws(GPSRemoval.Failure) {
            for image in images + [JPEGSegments(jpeg, at: end)].compactMap(\.self) {
                try cleanEXIF(image, keepsPlaces: true, in: &bytes)
            }
        } catch { throw noteRefusal(error.message) }
        return bytes
    }

    private static func cleanEXIF(
        _ image: JPEGSegments, keepsPlaces: Bool = false, in bytes: inout [UInt8]
    ) throws(GPSRemoval.Failure) {
        for segment in image.segments(0xe1, beginningWith: SegmentPlaces.exifHeader, in: bytes) {
            let start = segment.data.lowerBound + SegmentPlaces.exifHeader.count
            guard let tiff = TIFFStructure(Array(bytes[start..<segment.data.upperBound])) else { continue }
            let clean = try GPSRemoval.apply(to: tiff, keepsPlaces: keepsPlaces)
            bytes.replaceSubrange(start..<segment.data.upperBound, with: clean)
        }
    }

    /// Refuses to remove XMP that also describes depth, because the depth could not be read without it.
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
        if describesDepth { throw refusal("\(place.words), and this XMP also describes its depth") }
    }
}
