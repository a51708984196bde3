import CaptureBundle
import CaptureTestSupport
import Foundation
import Testing

/// What EXIF says about a capture, in both byte orders, and what its broken forms do not say.
struct PhotoFactsTests {
    private static func exif(isLittle: Bool, offset: String? = "+01:00", gps: Bool = true) -> ExifBuilder {
        var exif = ExifBuilder(isLittle: isLittle)
        exif.main = [
            .text(0x010f, "Rig"), .text(0x0110, "Test 7"), .short(0x0112, 6), .text(0x0131, "1.2"),
        ]
        exif.exif = [
            .text(0x9003, "2026:03:14 15:09:26"), .text(0x9291, "535"), .short(0xa002, 4032), .short(0xa003, 3024),
        ]
        if let offset { exif.exif.append(.text(0x9011, offset)) }
        if gps { exif.gps = ExifBuilder.gpsFields }
        return exif
    }

    @Test(arguments: [true, false])
    func readsEveryFact(_ isLittle: Bool) throws {
        let exif = Self.exif(isLittle: isLittle)
        for facts in [
            try #require(PhotoFacts(exif: exif.tiff)),
            try #require(PhotoFacts(exif: Array("Exif\0\0".utf8) + exif.tiff)),
            try #require(PhotoFacts(jpeg: JPEGPieces.photo(with: exif.segment))),
        ] {
            #expect(facts.make == "Rig")
            #expect(facts.model == "Test 7")
            #expect(facts.device == "Rig Test 7")
            #expect(facts.orientation == 6)
            #expect(facts.time?.local == "2026-03-14T15:09:26.535")
            #expect(facts.time?.offset == "+01:00")
            #expect(facts.time?.satellites?.description == "2026-03-14T14:09:24.530Z")
            let position = try #require(facts.position)
            #expect(abs(position.latitude + 12.51) < 1e-12)
            #expect(position.longitude == -45.25)
            #expect(position.altitude == 3.5)
            #expect(position.accuracy == 5)
            #expect(facts.time?.capturedAt == "2026-03-14T15:09:26.535+01:00")
        }
        #expect(PhotoFacts(exif: exif.tiff)?.size?.description == "4032x3024")
        #expect(PhotoFacts(jpeg: JPEGPieces.photo(with: exif.segment))?.size?.description == "8x8")
    }

    @Test func takesTheModelAloneWhereItNamesItsMaker() throws {
        var exif = ExifBuilder(isLittle: true)
        exif.main = [.text(0x010f, "RIG"), .text(0x0110, "Rig 7")]
        #expect(PhotoFacts(exif: exif.tiff)?.device == "Rig 7")
    }

    /// Local time minus satellite time, in seconds, and the offset that follows.
    static let differences: [(Int, String?)] = [
        (3600, "+01:00"), (3899, "+01:00"), (3901, nil), (3301, "+01:00"), (3299, nil), (0, "+00:00"),
        (-14_420, "-04:00"), (20_700, "+05:45"), (50_400, "+14:00"), (54_000, nil), (-54_000, nil), (86_400, nil),
    ]

    @Test(arguments: differences)
    func findsTheOffsetByTheSatellites(_ difference: Int, _ offset: String?) throws {
        var exif = Self.exif(isLittle: true, offset: nil)
        let local = try #require(CaptureTime("2026-03-14T15:09:26Z"))
        let satellites = try #require(CaptureTime(milliseconds: local.milliseconds - difference * 1000))
        let words = satellites.description.split { "-T:.Z".contains($0) }.map(String.init)
        exif.gps = [
            .rationals(7, words[3..<6].compactMap { Int($0) }.map { ($0, 1) }),
            .text(29, words[..<3].joined(separator: ":")),
        ]
        let time = try #require(PhotoFacts(exif: exif.tiff)?.time)
        #expect(time.capturedAt == offset.map { "2026-03-14T15:09:26.535\($0)" })
    }

    @Test func needsTheUsersOffsetWhereNothingTellsIt() throws {
        let time = try #require(PhotoFacts(exif: Self.exif(isLittle: true, offset: nil, gps: false).tiff)?.time)
        #expect(time.capturedAt == nil)
        #expect(time.capturedAt(offset: "+02:00") == "2026-03-14T15:09:26.535+02:00")
        #expect(time.capturedAt(offset: "Z") == "2026-03-14T15:09:26.535Z")
        #expect(time.capturedAt(offset: "Berlin") == nil)
    }

    @Test(arguments: ["0000:00:00 00:00:00", "2026:02:30 10:00:00", "2026:03:14", "    :  :     :  :  ", "ä"])
    func takesNoTimeThatIsNone(_ text: String) {
        var exif = ExifBuilder(isLittle: true)
        exif.exif = [.text(0x9003, text)]
        #expect(PhotoFacts(exif: exif.tiff) != nil)
        #expect(PhotoFacts(exif: exif.tiff)?.time == nil)
    }

    @Test(.enabled(if: Places.shared("captures") != nil, "needs the captures of the shared folder"))
    func readsPortraitPhotos() throws {
        func facts(_ name: String) throws -> PhotoFacts {
            let photo = try #require(Places.shared("captures/\(name)/photo.jpg")).bytes
            return try #require(PhotoFacts(jpeg: photo))
        }
        let mini = try facts("portrait-iphone12mini")
        #expect(mini.device == "Apple iPhone 12 mini")
        #expect(mini.time?.capturedAt == "2021-02-02T11:21:41.992+07:00")
        #expect(mini.position == nil)
        #expect(mini.size?.description == "4032x3024")
        let ten = try facts("portrait-iphonex-depth")
        #expect(ten.device == "Apple iPhone X")
        #expect(ten.time?.capturedAt == "2018-08-28T20:22:12.138+09:00")
        #expect(try abs(#require(ten.position?.altitude) - 29.76072691) < 1e-6)
    }
}
