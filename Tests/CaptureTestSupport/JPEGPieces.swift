/// Pieces of JPEG files, from which tests build unusual photos.
public enum JPEGPieces {
    public static func segment(_ marker: UInt8, _ data: [UInt8]) -> [UInt8] {
        [0xff, marker] + [8, 0].map { UInt8(truncatingIfNeeded: (data.count + 2) >> $0) } + data
    }

    /// An APP1 segment whose EXIF data has a GPS directory with one entry.
    public static let exifWithPosition: [UInt8] = segment(
        0xe1,
        Array("Exif\0\0II*\0".utf8) + [8, 0, 0, 0, 1, 0, 0x25, 0x88, 4, 0, 1, 0, 0, 0, 26, 0, 0, 0]
            + [0, 0, 0, 0, 1, 0])

    /// Makes an APP1 segment with an XMP packet.
    public static func xmp(_ packet: [UInt8]) -> [UInt8] {
        segment(0xe1, Array("http://ns.adobe.com/xap/1.0/\0".utf8) + packet)
    }

    public static let packetWithPosition =
        "<?xpacket begin='' id='W5M0MpCehiHzreSzNTczkc9d'?><x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF "
        + "xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><rdf:Description "
        + "xmlns:exif='http://ns.adobe.com/exif/1.0/' exif:GPSLatitude='1,2.3N' exif:GPSLongitude='4,5.6E'/></rdf:RDF>"
        + "</x:xmpmeta><?xpacket end='w'?>"

    /// Inserts segments into the photo at `place`: after its first two bytes, or at 71, where its first segment ends.
    public static func photo(with segments: [UInt8], at place: Int = 2) -> [UInt8] {
        Array(RawFolder.photo[..<place]) + segments + RawFolder.photo[place...]
    }

    /// Appends a second photo to the photo. An index in an APP2 segment of the first photo points to it (CIPA DC-007).
    public static func photo(andSecond second: [UInt8]) -> [UInt8] {
        func number(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(value >> (8 * $0) & 0xff) } }
        func entry(_ tag: Int, _ type: UInt8, _ count: Int, _ value: [UInt8]) -> [UInt8] {
            [UInt8(tag & 0xff), UInt8(tag >> 8), type, 0] + number(count) + value
        }
        func index(_ offset: Int) -> [UInt8] {
            let entries =
                entry(0xb000, 7, 4, Array("0100".utf8)) + entry(0xb001, 4, 1, number(2))
                + entry(0xb002, 7, 32, number(50))
            let directory = Array("MPF\0II*\0".utf8) + number(8) + [3, 0] + entries + number(0)
            let images =
                number(0x2003_0000) + number(0) + number(0) + number(0)
                + number(0) + number(second.count) + number(offset) + number(0)
            return segment(0xe2, directory + images)
        }
        let length = photo(with: index(0)).count
        // The index counts its offsets from its own byte order mark.
        return photo(with: index(length - 10)) + second
    }
}
