/// Reads the XMP of a JPEG image: a packet in one APP1 segment, and an extended packet in further segments (XMP
/// specification part 3, sections 1.1.3 and 1.1.3.1).
extension XMPPacket {
    static let segmentHeader = Array("http://ns.adobe.com/xap/1.0/\0".utf8)
    static let extensionHeader = Array("http://ns.adobe.com/xmp/extension/\0".utf8)
    private static let guidLength = 32
    static let extensionHeaderLength = extensionHeader.count + guidLength + 4 + 4

    /// Reads the XMP of one image; nil if the image has no XMP or its first packet cannot be read. An extended packet that
    /// is incomplete or cannot be read is left out.
    static func read(_ jpeg: [UInt8], _ image: JPEGSegments) -> XMPPacket? {
        guard let segment = image.segments(0xe1, beginningWith: segmentHeader, in: jpeg).first,
            var packet = XMPPacket(Array(jpeg[segment.data].dropFirst(segmentHeader.count)))
        else { return nil }
        if let guid = packet.text(note, "HasExtendedXMP"), let bytes = extended(jpeg, image, guid: Array(guid.utf8)),
            let more = XMPPacket(bytes)
        {
            packet.add(more)
        }
        return packet
    }

    /// Joins the parts of the extended packet with this GUID; nil if there are gaps or overlaps between the parts.
    private static func extended(_ jpeg: [UInt8], _ image: JPEGSegments, guid: [UInt8]) -> [UInt8]? {
        guard guid.count == guidLength else { return nil }
        var parts: [(whole: Int, offset: Int, data: Range<Int>)] = []
        for segment in image.segments(0xe1, beginningWith: extensionHeader + guid, in: jpeg) {
            guard segment.data.count >= extensionHeaderLength else { return nil }
            let numbers = segment.data.lowerBound + extensionHeader.count + guidLength
            func number(_ place: Int) -> Int { jpeg[place..<(place + 4)].reduce(0) { $0 << 8 | Int($1) } }
            parts.append((number(numbers), number(numbers + 4), (numbers + 8)..<segment.data.upperBound))
        }
        guard let whole = parts.first?.whole, whole <= byteLimit else { return nil }
        var bytes: [UInt8] = []
        for part in parts.sorted(by: { $0.offset < $1.offset }) {
            guard part.whole == whole, part.offset == bytes.count else { return nil }
            bytes += jpeg[part.data]
        }
        return bytes.count == whole ? bytes : nil
    }
}
