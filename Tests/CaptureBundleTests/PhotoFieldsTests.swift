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

    /// Text in segments of the picture, where no decoder reads it.
    static let withFreeBytes: [(name: String, segment: [UInt8], shorter: [UInt8])] = {
        let text = Array("N 12 30 15".utf8)
        let huffman = [UInt8(0x10), 1] + [UInt8](repeating: 0, count: 15) + [5]
        let quantisation = [UInt8](repeating: 1, count: 65)
        return [
            ("DNL", segment(0xdc, text), []), ("DHP", segment(0xde, text), []), ("EXP", segment(0xdf, text), []),
            ("DRI", segment(0xdd, [0, 1] + text), segment(0xdd, [0, 1])),
            ("DHT", segment(0xc4, huffman + text), segment(0xc4, huffman)),
            ("DQT", segment(0xdb, quantisation + text), segment(0xdb, quantisation)),
            ("DAC", segment(0xcc, [0, 1] + text), segment(0xcc, [0, 1])),
        ]
    }()

    @Test(arguments: withFreeBytes.indices)
    func cutsOffWhatNoDecoderReads(_ index: Int) throws {
        let (name, segment, shorter) = Self.withFreeBytes[index]
        let fields = try PhotoFields(JPEGPieces.photo(with: segment))
        #expect(
            fields.others.count == 1 && fields.photo == JPEGPieces.photo(with: shorter), "\(name): \(fields.others)")
        #expect(try PhotoFields(fields.photo).others.isEmpty, "\(name)")
    }

    @Test func cutsOffWhatFollowsTheFieldsOfFrameAndScan() throws {
        let photo = RawFolder.photo
        let scan = try #require(photo.indices.first { photo[$0...].starts(with: [0xff, 0xda]) })
        let frame = try #require(photo.indices.first { photo[$0...].starts(with: [0xff, 0xc0]) })
        for place in [frame, scan] {
            var longer = photo
            let end = place + 2 + Int(photo[place + 3])
            longer.insert(0x4e, at: end)
            longer[place + 3] += 1
            let fields = try PhotoFields(longer)
            #expect(fields.others.count == 1 && fields.photo == photo, "\(fields.others)")
        }
        let end = frame + 2 + Int(photo[frame + 3])
        let fields = try PhotoFields(Array(photo[..<end]) + photo[frame..<end] + photo[end...])
        #expect(fields.others == ["a second frame header"] && fields.photo == photo)
    }

    @Test(arguments: [
        segment(0xdd, [1]), segment(0xdb, [0, 1, 2]), segment(0xc4, [0, 1]), segment(0xcc, [0]), segment(0xdb, [0x44]),
        segment(0xc0, [8, 0, 0, 0, 1, 1, 1, 0x11, 0]), segment(0xda, [9, 1]),
    ])
    func refusesASegmentThatIsCutShort(_ segment: [UInt8]) {
        #expect(throws: PhotoFields.Failure.self) { try PhotoFields(JPEGPieces.photo(with: segment)) }
    }

    @Test(arguments: [
        [], Array(RawFolder.photo.dropLast(2)), Array(RawFolder.photo[..<71]), [0xff, 0xd8, 0xff, 0xd9],
        JPEGPieces.photo(with: [0xff, 0xd8], at: 71), JPEGPieces.photo(with: [0xff, 0xe5, 0xff, 0xff]),
    ])
    func refusesAPhotoWhoseMarkersLeadNowhere(_ photo: [UInt8]) {
        #expect(throws: PhotoFields.Failure.self) { try PhotoFields(photo) }
    }
}
