import CaptureBundle
import CaptureTestSupport
import Testing

/// Places in bytes that no reader understands: maker notes, private fields, gaps, thumbnails and other segments.
struct EmbeddedPlacesTests {
    private static let text = Array("GPSLatitude=12.5 GPSLongitude=45.25".utf8)
    private static let makerNote = 0x927c

    /// A TIFF structure with a GPS directory.
    private static let structure: [UInt8] = {
        var exif = ExifBuilder(isLittle: true)
        exif.main = [.text(0x0110, "Rig")]
        exif.gps = ExifBuilder.gpsFields
        return exif.tiff
    }()

    private static func exif(
        main: [ExifBuilder.Field] = [], _ fields: [ExifBuilder.Field] = [], rest: [UInt8] = []
    ) -> [UInt8] {
        var exif = ExifBuilder(isLittle: false)
        exif.main = [.text(0x010f, "Rig")] + main
        exif.exif = fields
        return JPEGPieces.photo(with: JPEGPieces.segment(0xe1, Array("Exif\0\0".utf8) + exif.tiff + rest))
    }

    private static func note(_ bytes: [UInt8]) -> [UInt8] { exif([.bytes(makerNote, bytes)]) }

    /// EXIF whose second directory has a thumbnail with this segment.
    private static func thumbnail(_ segment: [UInt8]) -> [UInt8] {
        func number(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(value >> (8 * $0) & 0xff) } }
        let picture = [0xff, 0xd8] + segment + [0xff, 0xd9]
        let tiff =
            Array("II*\0".utf8) + number(8) + [0, 0] + number(14) + [2, 0] + [1, 2, 4, 0] + number(1) + number(44)
            + [2, 2, 4, 0] + number(1) + number(picture.count) + number(0) + picture
        return JPEGPieces.photo(with: JPEGPieces.segment(0xe1, Array("Exif\0\0".utf8) + tiff))
    }

    private static func field(_ tag: Int, type: Int, _ text: String) -> [UInt8] {
        exif(main: [.bytes(tag, type: type, Array(text.utf8))])
    }

    private static func segment(_ marker: UInt8, _ text: String) -> [UInt8] {
        JPEGPieces.photo(with: JPEGPieces.segment(marker, Array(text.utf8)))
    }

    private static let iptc: [UInt8] = {
        let datasets: [UInt8] = [0x1c, 2, 90, 0, 4] + Array("Town".utf8)
        return JPEGPieces.segment(
            0xed, Array("Photoshop 3.0\08BIM".utf8) + [4, 4, 0, 0, 0, 0, 0, UInt8(datasets.count)] + datasets + [0])
    }()
    private static let geo =
        "<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>"
        + "<rdf:Description xmlns:geo='http://www.w3.org/2003/01/geo/wgs84_pos#' geo:lat='12' geo:long='45'/></rdf:RDF>"
        + "</x:xmpmeta>"
    private static let box: [UInt8] =
        [0, 0, 0, 35] + Array("loci\0\0\0\0".utf8) + [0x15, 0xc7] + Array("a\0\0".utf8)
        + [0, 45, 0, 0, 0, 12, 0, 0, 0, 0, 0, 0] + Array("earth\0".utf8)
    private static let utf16 = Array("lat: 12.5".utf8).flatMap { (byte: UInt8) -> [UInt8] in [byte, 0] }

    /// Photos, and whether the place can be taken out.
    static let telling: [(name: String, photo: [UInt8], isRemovable: Bool)] = [
        ("a structure in a maker note", note(Array("Nikon\0".utf8) + [2, 0x10, 0, 0] + structure), true),
        ("a text in a maker note", note(Array("Panasonic\0\0\0".utf8) + text), true),
        ("a text in a note that looks like Apple's", note(Array("Apple iOS\0".utf8) + text), true),
        ("a text in a private field", exif(main: [.bytes(0xc001, text)]), true),
        ("a structure in a private field", exif(main: [.bytes(0xc000, structure)]), true),
        ("a text in a field of another type", field(0x010e, type: 7, "latitude 12.5 longitude 45.25"), true),
        ("a text between the fields", exif(main: [], rest: text), false),
        ("IPTC in a thumbnail", thumbnail(iptc), false),
        ("XMP in a thumbnail", thumbnail(JPEGPieces.xmp(Array(geo.utf8))), false),
        ("broken XMP in a thumbnail", thumbnail(JPEGPieces.xmp(Array("<rdf:RDF><a:City>Town".utf8))), false),
        ("a comment in a thumbnail", thumbnail(JPEGPieces.segment(0xfe, text)), false),
        ("names in a comment", segment(0xfe, "lat=12.5 lon=45.25"), true),
        ("names in a comment, in degrees", segment(0xfe, "Lat 12°30', Lon 45°15'"), true),
        ("names in JSON in a comment", segment(0xfe, "{\"lat\": 12.5, \"lng\": -45.25}"), true),
        ("a URI in a comment", segment(0xfe, "geo:12.5,-45.25"), true),
        ("names in a description", field(0x010e, type: 2, "lat:12.5, lon:45.25\0"), true),
        ("names in the user's comment", exif([.bytes(0x9286, Array("ASCII\0\0\0lat 12.5 lon 45.25".utf8))]), true),
        ("names in UTF-16", exif(main: [.bytes(0x9c9c, type: 1, utf16)]), true),
        ("a text in a colour profile", segment(0xe2, "ICC_PROFILE\0\u{1}\u{1}GPSLatitude=12.5"), true),
        ("a text in an index of pictures", segment(0xe2, "MPF\0GPSLatitude=12.5"), true),
        ("a text in the segment of an extension", segment(0xf0, "GPSLatitude=12.5"), true),
        ("names in Photoshop's resources", segment(0xed, "Photoshop 3.0\08BIM\u{4}\u{1}\0\0\0\0\0\u{8}lat=12.5"), true),
        ("a box after the picture", RawFolder.photo + [0, 0, 0, 8] + Array("free".utf8) + box, false),
    ]

    @Test(arguments: (telling + HiddenPlacesTests.photos).indices)
    func areFoundAndTakenOutOrRefused(_ index: Int) throws {
        let (name, photo, isRemovable) = (Self.telling + HiddenPlacesTests.photos)[index]
        #expect(PlacesTold.tellsAPosition(photo, kind: .jpeg) != nil, "\(name)")
        guard isRemovable else {
            #expect(throws: BundleError.self, "\(name)") { try PositionRemoval.apply(to: photo) }
            return
        }
        let clean = try PositionRemoval.apply(to: photo)
        #expect(clean.count == photo.count)
        #expect(PlacesTold.tellsAPosition(clean, kind: .jpeg) == nil, "\(name)")
    }

    /// A TIFF structure without a position, as Nikon has one in its maker notes.
    private static let silentStructure: [UInt8] = {
        var exif = ExifBuilder(isLittle: false)
        exif.main = [.text(1, "0210"), .short(2, 400)]
        return exif.tiff
    }()

    static let silent: [(name: String, photo: [UInt8])] = [
        ("a structure in a maker note", note(Array("Nikon\0".utf8) + [2, 0x10, 0, 0] + silentStructure)),
        // Canon ends its notes with a header that has the offset of the note.
        (
            "a header that leads nowhere",
            exif(
                [.bytes(makerNote, Array("II*\0".utf8) + [9, 0, 0, 0, 1, 2])], rest: [UInt8](repeating: 0xff, count: 40)
            )
        ),
        ("a name that is part of a word", segment(0xfe, "flat: 1.5, plat=2.5")),
        (
            "a name without a number", segment(0xfe, "Lon and Lat, 3 of 5. Location: home")
        ),
        ("a whole number", segment(0xfe, "gps 3, lat 4")),
        ("a comment in a thumbnail", thumbnail([0xff, 0xfe, 0, 3, 65])),
        ("XMP in a thumbnail", thumbnail(JPEGPieces.xmp(Array("<rdf:RDF xmlns:rdf='r'/>State".utf8)))),
        ("words of four bytes in a private field", exif(main: [.bytes(0xc001, Array("gps5".utf8) + [1, 2, 3])])),
    ]

    @Test(arguments: silent.indices)
    func othersAreNotRefused(_ index: Int) {
        let (name, photo) = Self.silent[index]
        #expect(PlacesTold.tellsAPosition(photo, kind: .jpeg) == nil, "\(name)")
    }

    /// What the search has to begin at again and again. The first one is a whole TIFF structure.
    private static let beginnings: [[UInt8]] =
        [Array("II*\0".utf8) + [8, 0, 0, 0, 1, 0, 0x10, 1, 2, 0, 2, 0, 0, 0, 0x41, 0, 0, 0, 0, 0, 0, 0]]
        + [
            "II*\0\u{8}\0\0\0", "rdf:RDF ", "<x:xmpmeta/>rdf:RDF ", "<rdf:RDF xmlns:rdf='r'/>",
            "8BIM\u{4}\u{4}\0\0\0\0\0\0", "lat: ",
        ].map { Array($0.utf8) }

    @Test(.long, arguments: beginnings.indices)
    func beginningsAreNotSearchedAgainAndAgain(_ index: Int) {
        let beginning = Self.beginnings[index]
        let rest = (0..<(1 << 18) / beginning.count).flatMap { _ in beginning }
        let clock = ContinuousClock()
        let time = clock.measure { _ = PlacesTold.tellsAPosition(Self.silentStructure + rest, kind: .tiff) }
        // Each search again from the start would take several minutes.
        #expect(time < .seconds(120), "\(time)")
    }
}
