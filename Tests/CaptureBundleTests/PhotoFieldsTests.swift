import CaptureBundle
import CaptureTestSupport
import Testing

/// A photo has only the listed segments and fields, or is written anew with only them (Spec/raw-captures.md section 7).
struct PhotoFieldsTests {
    private static let segment = JPEGPieces.segment
    private static let listed: ExifBuilder = {
        var exif = ExifBuilder(isLittle: true)
        exif.main = [.text(0x010f, "Rig"), .text(0x0110, "Test 7"), .short(0x0112, 6), .rationals(0x011a, [(72, 1)])]
        exif.exif = [
            .rationals(0x829a, [(1, 60)]), .bytes(0x9000, Array("0232".utf8)), .text(0x9003, "2026:03:14 15:09:26"),
        ]
        return exif
    }()

    private static func exif(_ change: (inout ExifBuilder) -> Void) -> [UInt8] {
        var exif = listed
        change(&exif)
        return exif.segment
    }

    private static func profile(_ tag: String, gap: Int = 0) -> [UInt8] {
        func number(_ value: Int) -> [UInt8] { [24, 16, 8, 0].map { UInt8(value >> $0 & 0xff) } }
        let data = Array("XYZ \0\0\0\0".utf8) + [UInt8](repeating: 1, count: 12)
        let size = 128 + 4 + 12 + gap + data.count
        let head = number(size) + [UInt8](repeating: 0, count: 124) + number(1) + Array(tag.utf8) + number(144 + gap)
        return segment(
            0xe2,
            Array("ICC_PROFILE\0\u{1}\u{1}".utf8) + head + number(data.count) + [UInt8](repeating: 0, count: gap) + data
        )
    }

    private static let jfif = segment(0xe0, Array("JFIF\0\u{1}\u{2}".utf8) + [0, 0, 1, 0, 1, 0, 0])
    private static let adobe = segment(0xee, Array("Adobe".utf8) + [0, 100, 0, 0, 0, 0, 0])

    static let asListed: [(name: String, photo: [UInt8])] = [
        ("plain", RawFolder.photo), ("fields", JPEGPieces.photo(with: listed.segment)),
        ("fields, big-endian", JPEGPieces.photo(with: exif { $0.isLittle = false })),
        ("the main directory alone", JPEGPieces.photo(with: exif { $0.exif = [] })),
        ("JFIF, a profile and Adobe", JPEGPieces.photo(with: jfif + adobe + profile("wtpt"))),
        ("a profile with filling", JPEGPieces.photo(with: profile("rXYZ", gap: 3))),
        ("a restart interval", JPEGPieces.photo(with: segment(0xdd, [0, 1]))),
    ]

    @Test(arguments: asListed.indices)
    func keepsAPhotoThatIsAsListed(_ index: Int) throws {
        let (name, photo) = Self.asListed[index]
        let fields = try PhotoFields(photo)
        #expect(fields.others.isEmpty && fields.photo == photo, "\(name): \(fields.others)")
    }

    /// Photos with one thing more, the words that name it, and the segments that stay before the picture.
    static let more: [(photo: [UInt8], words: String, kept: [UInt8])] = [
        (JPEGPieces.photo(with: JPEGPieces.xmp(Array(JPEGPieces.packetWithPosition.utf8))), "XMP", []),
        (JPEGPieces.photo(with: segment(0xe1, Array("http://ns.adobe.com/xmp/extension/\0".utf8))), "XMP", []),
        (JPEGPieces.photo(with: segment(0xfe, Array("12.5 N".utf8))), "a comment", []),
        (JPEGPieces.photo(with: segment(0xed, Array("Photoshop 3.0\0".utf8))), "IPTC or other fields of Photoshop", []),
        (JPEGPieces.photo(with: segment(0xeb, Array("JP12".utf8))), "JUMBF (C2PA)", []),
        (JPEGPieces.photo(with: segment(0xe5, [1])), "an APP5 segment", []),
        (JPEGPieces.photo(with: segment(0xf3, [1])), "a private segment", []),
        (JPEGPieces.photo(andSecond: RawFolder.photo), "an index of other pictures (MPF)", []),
        (RawFolder.photo + [0], "1 bytes after the picture", []),
        (JPEGPieces.photo(with: [0xff, 0xff]), "bytes between its segments", []),
        (JPEGPieces.photo(with: [1, 2, 0xff, 0, 0xff, 0xd0], at: 71), "bytes between its segments", []),
        (JPEGPieces.photo(with: jfif.dropLast(2) + [1, 1]), "a thumbnail in JFIF", jfif),
        (
            JPEGPieces.photo(with: segment(0xe0, Array(jfif[4...]) + [1, 2, 3])), "a thumbnail in JFIF", jfif
        ),
        (JPEGPieces.photo(with: segment(0xe0, Array("JFXX\0".utf8))), "an APP0 segment", []),
        (
            JPEGPieces.photo(with: segment(0xee, adobe[4...] + Array("12.5".utf8))),
            "an Adobe segment with more bytes", adobe
        ),
        (JPEGPieces.photo(with: profile("vcgt")), "a colour profile that is not as listed", []),
        (JPEGPieces.photo(with: profile("wtpt", gap: 4)), "a colour profile that is not as listed", []),
        (
            JPEGPieces.photo(with: profile("wtpt") + profile("wtpt")), "a colour profile that is not as listed", []
        ),
        (JPEGPieces.photo(with: listed.segment + listed.segment), "another EXIF segment", listed.segment),
        (Array(RawFolder.photo.dropLast(2)) + listed.segment + [0xff, 0xd9], "another EXIF segment", []),
        (JPEGPieces.photo(with: segment(0xe1, Array("Exif\0\0nothing".utf8))), "EXIF that cannot be read", []),
        (JPEGPieces.photo(with: exif { $0.gps = ExifBuilder.gpsFields }), "GPS fields", listed.segment),
        (
            JPEGPieces.photo(with: exif { $0.exif.append(.bytes(0x927c, Array("Apple iOS\0".utf8))) }), "a maker note",
            listed.segment
        ),
        (
            JPEGPieces.photo(with: exif { $0.exif.append(.bytes(0x9286, Array("12.5".utf8))) }),
            "the EXIF field 0x9286", listed.segment
        ),
        (
            JPEGPieces.photo(with: exif { $0.main.append(.text(0x9003, "here")) }), "the EXIF field 0x9003",
            listed.segment
        ),
        (
            JPEGPieces.photo(with: exif { $0.main.append(.text(0x0131, String(repeating: "x", count: 65))) }),
            "the EXIF field 0x0131", listed.segment
        ),
        (
            JPEGPieces.photo(with: exif { $0.main.append(.text(0x0131, "\u{e9}")) }), "the EXIF field 0x0131",
            listed.segment
        ),
        (JPEGPieces.photo(with: exif { $0.main.append(.text(0x0128, "2")) }), "the EXIF field 0x0128", listed.segment),
        (
            JPEGPieces.photo(with: exif { $0.exif.append(.rationals(0x9205, [(1, 2), (3, 4)])) }),
            "the EXIF field 0x9205", listed.segment
        ),
        (
            JPEGPieces.photo(with: segment(0xe1, Array("Exif\0\0".utf8) + listed.tiff + [7])),
            "EXIF in another arrangement", listed.segment
        ),
        (
            JPEGPieces.photo(with: exif { $0.main[1] = .bytes(0x0110, type: 2, Array("Test 7\0 12.5".utf8)) }),
            "EXIF in another arrangement", listed.segment
        ),
    ]

    @Test(arguments: more.indices)
    func dropsWhatIsNotListed(_ index: Int) throws {
        let (photo, words, kept) = Self.more[index]
        let fields = try PhotoFields(photo)
        #expect(fields.others.first == words)
        #expect(fields.photo == JPEGPieces.photo(with: kept))
        #expect(try PhotoFields(fields.photo).others.isEmpty, "\(words)")
    }

    @Test(arguments: [
        [], Array(RawFolder.photo.dropLast(2)), Array(RawFolder.photo[..<71]), [0xff, 0xd8, 0xff, 0xd9],
        JPEGPieces.photo(with: [0xff, 0xd8], at: 71), JPEGPieces.photo(with: [0xff, 0xe5, 0xff, 0xff]),
    ])
    func refusesAPhotoWhoseMarkersLeadNowhere(_ photo: [UInt8]) {
        #expect(throws: PhotoFields.Failure.self) { try PhotoFields(photo) }
    }

    @Test func survivesTruncationsAndBitFlips() throws {
        let all = JPEGPieces.photo(
            with: Self.exif { $0.gps = ExifBuilder.gpsFields } + Self.profile("wtpt") + Self.jfif + Self.adobe)
        try Damage.each(all, count: 200) { bytes in
            guard let fields = try? PhotoFields(bytes) else { return }
            let again = try PhotoFields(fields.photo)
            #expect(again.others.isEmpty && again.photo == fields.photo)
        }
    }
}
