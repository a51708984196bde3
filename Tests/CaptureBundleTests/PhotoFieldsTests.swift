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

    @Test(arguments: [
        [], Array(RawFolder.photo.dropLast(2)), Array(RawFolder.photo[..<71]), [0xff, 0xd8, 0xff, 0xd9],
        JPEGPieces.photo(with: [0xff, 0xd8], at: 71), JPEGPieces.photo(with: [0xff, 0xe5, 0xff, 0xff]),
    ])
    func refusesAPhotoWhoseMarkersLeadNowhere(_ photo: [UInt8]) {
        #expect(throws: PhotoFields.Failure.self) { try PhotoFields(photo) }
    }
}
