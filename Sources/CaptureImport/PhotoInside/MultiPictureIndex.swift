import CaptureBundle

/// Finds the images that follow the first one in a JPEG file, such as a gain map, disparity or a matte (MPF, CIPA
/// DC-007).
enum MultiPictureIndex {
    private static let header = Array("MPF\0".utf8)
    private static let entriesTag = 0xb002
    private static let entryLength = 16
    /// The maximum number of images that are read.
    private static let limit = 64

    /// The number of images that the index, or the list in XMP (`Container:Directory`), has and the file has not.
    /// Programs that rewrite a photo copy its segments, but not the images behind it.
    static func missing(in jpeg: [UInt8]) -> Int {
        guard let first = JPEGSegments(jpeg) else { return 0 }
        let entries = entries(in: jpeg, first: first)
        let packet = first.segments(0xe1, beginningWith: XMPPacket.header, in: jpeg).first.map { jpeg[$0.data] } ?? []
        let item = Array("Item:Semantic".utf8)
        let items = packet.indices.count { packet[$0] == item[0] && packet[$0...].starts(with: item) }
        let present = max(entries.compactMap(\.self).count, walk(jpeg).images.count - 1)
        return max(0, max(entries.count, items - 1) - present)
    }

    /// A range for each image after the first that the index in the first image's APP2 segment lists, in file order; nil
    /// for one that is not a JPEG in the file. The entry of the first image is ignored, because devices write wrong sizes
    /// there.
    static func entries(in jpeg: [UInt8], first: JPEGSegments) -> [Range<Int>?] {
        guard let segment = first.segments(0xe2, beginningWith: header, in: jpeg).first else { return [] }
        // Offsets count from the TIFF header of the index.
        let base = segment.data.lowerBound + header.count
        guard let tiff = TIFFStructure(Array(jpeg[base..<segment.data.upperBound])),
            let entry = TIFFDirectory(tiff, offset: tiff.firstDirectory)?[entriesTag], let value = entry.value
        else { return [] }
        let starts = stride(from: value.lowerBound, to: value.upperBound, by: entryLength).dropFirst().prefix(limit)
        return starts.map { start in
            guard let size = tiff.number(at: start + 4, length: 4), let offset = tiff.number(at: start + 8, length: 4),
                size >= 4, offset > 0, base + offset + size <= jpeg.count,
                jpeg[base + offset] == 0xff, jpeg[base + offset + 1] == 0xd8
            else { return nil }
            return (base + offset)..<(base + offset + size)
        }
    }

    /// Finds the images of a file without its index: each begins where the one before ends. Zero bytes between them are
    /// skipped.
    ///
    /// - Returns: The complete images, and the offset after the last of them and the zero bytes that follow it.
    static func walk(_ jpeg: [UInt8]) -> (images: [JPEGSegments], end: Int) {
        var images: [JPEGSegments] = []
        var position = 0
        while images.count < limit, let image = JPEGSegments(jpeg, at: position), let end = image.end {
            images.append(image)
            position = end
            while position < jpeg.count, jpeg[position] == 0 { position += 1 }
        }
        return (images, position)
    }
}
