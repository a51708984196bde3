import CaptureBundle
import CaptureTestSupport
import Foundation
import SystemPackage
import Testing

/// Places in a photo that hide where EXIF and XMP usually do not have them, and hostile EXIF that is slow to search.
struct HiddenPlacesTests {
    /// A little-endian TIFF structure.
    private struct Structure {
        struct Entry {
            let tag: Int
            var type = 4
            var count = 1
            /// The value of four bytes, or the number of the directory to which the entry points.
            var value = 0
            var directory: Int?
        }

        var magic = 42
        var directories: [(entries: [Entry], next: Int?)]
        /// What follows the directories.
        var rest: [UInt8] = []

        static func bytes(_ value: Int, _ length: Int) -> [UInt8] {
            (0..<length).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }

        func offset(_ directory: Int) -> Int {
            8 + directories[..<directory].reduce(0) { $0 + 2 + 12 * $1.entries.count + 4 }
        }

        var end: Int { offset(directories.count) }

        var tiff: [UInt8] {
            var made = Array("II".utf8) + Self.bytes(magic, 2) + Self.bytes(8, 4)
            for (entries, next) in directories {
                made += Self.bytes(entries.count, 2)
                for entry in entries {
                    made += Self.bytes(entry.tag, 2) + Self.bytes(entry.type, 2) + Self.bytes(entry.count, 4)
                    made += Self.bytes(entry.directory.map(offset) ?? entry.value, 4)
                }
                made += Self.bytes(next.map(offset) ?? 0, 4)
            }
            return made + rest
        }

        func segment(_ header: String = "Exif\0\0") -> [UInt8] {
            JPEGPieces.segment(0xe1, Array(header.utf8) + tiff)
        }
    }

    private static let model = Structure.Entry(tag: 0x0110, type: 2, count: 2, value: 0x41)
    private static let gps: [Structure.Entry] = [.init(tag: 1, type: 2, count: 2, value: 0x4e)]

    /// A structure whose GPS directory hangs on the entry `tag` of the first directory, or on one behind it.
    private static func below(_ tag: Int, type: Int = 4) -> Structure {
        Structure(directories: [
            ([model, .init(tag: tag, type: type, directory: 1)], nil), ([.init(tag: 0x8825, directory: 2)], nil),
            (gps, nil),
        ])
    }

    private static let plain = Structure(directories: [([model, .init(tag: 0x8825, directory: 1)], nil), (gps, nil)])

    private static func text(_ tag: Int, type: Int, _ text: [UInt8]) -> [UInt8] {
        var made = Structure(directories: [([.init(tag: tag, type: type, count: text.count), model], nil)])
        made.directories[0].entries[0].value = made.end
        made.rest = text
        return made.segment()
    }

    private static let chain: Structure = {
        var made = Structure(directories: (0..<70).map { ([model], $0 + 1) })
        made.directories.append(([model, .init(tag: 0x8825, directory: 71)], nil))
        made.directories.append((gps, nil))
        return made
    }()

    private static func xmp(_ inside: String, after: String = "") -> [UInt8] {
        let packet =
            "<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>"
            + "<rdf:Description rdf:about='' xmlns:p='http://ns.adobe.com/photoshop/1.0/' xmlns:g='urn:g'>\(inside)"
            + "</rdf:Description></rdf:RDF></x:xmpmeta>\(after)"
        return JPEGPieces.xmp(Array(packet.utf8))
    }

    /// A JUMBF box in two segments, cut inside the word.
    private static let jumbf: [UInt8] = {
        let head: [UInt8] = [0, 0, 0, 60] + Array("jumb".utf8)
        func part(_ number: UInt8, _ text: String) -> [UInt8] {
            JPEGPieces.segment(0xeb, Array("JP".utf8) + [0, 1, 0, 0, 0, number] + head + Array(text.utf8))
        }
        return part(1, "{\"exif:GPSLati") + part(2, "tude\":\"12,3N\"}")
    }()

    private static func photo(_ segments: [UInt8]) -> [UInt8] { JPEGPieces.photo(with: segments) }

    private static func magic(_ number: Int) -> [UInt8] {
        var made = plain
        made.magic = number
        return made.segment()
    }

    private static let second = Structure(directories: [
        ([model], 1), ([.init(tag: 0x8825, directory: 2)], nil), (gps, nil),
    ])
    private static let overlong: [UInt8] = {
        var made = below(0x8769).tiff
        made[below(0x8769).offset(1)] = 90
        return JPEGPieces.segment(0xe1, Array("Exif\0\0".utf8) + made)
    }()
    private static let comment = Array("ASCII\0\0\0{\"latitude\":12.5}".utf8)
    private static let windows: [UInt8] = Array("Longitude 3".utf8).flatMap { (byte: UInt8) -> [UInt8] in [byte, 0] }

    /// Photos, and whether the place can be taken out.
    static let photos: [(name: String, photo: [UInt8], isRemovable: Bool)] = [
        ("in the directory of EXIF", photo(below(0x8769).segment()), true),
        ("in SubIFDs", photo(below(0x014a).segment()), true),
        ("in global parameters", photo(below(0x0190).segment()), true),
        ("behind a pointer of a signed type", photo(below(0x8769, type: 9).segment()), true),
        ("behind a pointer of the directory type", photo(below(0x9999, type: 13).segment()), true),
        ("in the second directory", photo(second.segment()), true),
        ("in the 71st directory", photo(chain.segment()), false),
        ("in a directory that is cut off", photo(overlong), false),
        ("in BigTIFF", photo(magic(43)), true), ("in the TIFF of a raw format", photo(magic(0x55)), true),
        ("under a header in capitals", photo(plain.segment("EXIF\0\0")), true),
        ("under a header that ends otherwise", photo(plain.segment("Exif\0\u{1}")), true),
        ("after other bytes", photo(plain.segment("ab\0Exif\0\0")), true),
        ("in the user's comment", photo(text(0x9286, type: 7, comment)), true),
        ("in a description", photo(text(0x010e, type: 2, Array("latitude=1.5\0".utf8))), true),
        ("in a text of Windows", photo(text(0x9c9c, type: 1, windows)), true),
        ("in the geo vocabulary", photo(xmp("<g:lat>1</g:lat><g:long>2</g:long>")), true),
        ("in XMP of an unknown namespace", photo(xmp("<g:City>Town</g:City>")), true),
        ("in XMP that cannot be read", photo(xmp("<p:City>Town</p:City>&nbsp;")), true),
        ("after the end of XMP", photo(xmp("", after: "<p:City>Town</p:City>")), true),
        (
            "in XMP under another name",
            photo(JPEGPieces.segment(0xe1, Array("http://example.com/\0<p:City>Town</p:City>".utf8))), true
        ),
        ("in a picture inside a segment", photo(JPEGPieces.segment(0xe5, photo(plain.segment()))), true),
        ("in two parts of JUMBF", photo(jumbf), true),
        ("in a video after the picture", RawFolder.photo + [0xa9] + Array("xyz\0\u{12}+12.5-045.2/".utf8), false),
    ]

    @Test func aTextWithoutAPlaceStays() throws {
        let photo = Self.photo(Self.below(0x8769).segment() + Self.text(0x010e, type: 2, Array("A lamp.\0".utf8)))
        let clean = try PositionRemoval.apply(to: photo)
        #expect(clean.indices.contains { clean[$0...].starts(with: "A lamp.".utf8) })
    }

    /// All entries point to the same bytes. Their search would take minutes if each was followed.
    @Test(arguments: [700, 0x83bb, 0x8649, 0x010e])
    func fieldsThatShareBytesAreNotSearchedAgainAndAgain(_ tag: Int) {
        let count = isLongRun ? 3000 : 1000
        let value =
            Array("<a xmlns='u'>".utf8) + (0..<(isLongRun ? 5000 : 2000)).flatMap { _ in Array("<b/>".utf8) }
            + Array("</a>".utf8)
        var made = Structure(directories: [([], nil)])
        let offset = made.end + 12 * count
        made.directories[0].entries = (0..<count).map { _ in
            .init(tag: tag, type: 2, count: value.count, value: offset)
        }
        made.rest = value
        let photo = Self.photo(made.segment())
        let clock = ContinuousClock()
        let time = clock.measure {
            #expect(PlacesTold.tellsAPosition(photo, kind: .jpeg) != nil)
            #expect(throws: BundleError.self) { try PositionRemoval.apply(to: photo) }
        }
        #expect(time < .seconds(20), "\(time)")
    }

    /// All entries point to the same list of pointers, and none of them leads to a directory.
    @Test func pointersThatShareBytesAreNotFollowedAgainAndAgain() {
        func photo(_ count: Int) -> [UInt8] {
            var made = Structure(directories: [([], nil)])
            let offset = made.end + 12 * count
            made.directories[0].entries = (0..<count).map { _ in .init(tag: 0x014a, count: 64, value: offset) }
            made.rest = [UInt8](repeating: 0, count: 256)
            return Self.photo(made.segment())
        }
        #expect(PlacesTold.tellsAPosition(photo(1), kind: .jpeg) == nil)
        #expect(PlacesTold.tellsAPosition(photo(1000), kind: .jpeg)?.contains("more pointers") ?? false)
    }
}
