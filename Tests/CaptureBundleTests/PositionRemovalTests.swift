import CaptureBundle
import CaptureTestSupport
import Foundation
import Testing

/// A position is taken out of a photo in place; exiftool finds none afterwards, and everything else as before.
struct PositionRemovalTests {
    private static let exiftool = URL(filePath: "/usr/bin/exiftool")
    static let hasExiftool = FileManager.default.isExecutableFile(atPath: exiftool.path())

    private static func exif(_ isLittle: Bool, note: [UInt8]? = nil) -> ExifBuilder {
        var exif = ExifBuilder(isLittle: isLittle)
        exif.main = [.text(0x010f, "Rig"), .text(0x0110, "Test 7"), .short(0x0112, 6)]
        exif.exif = [.text(0x9003, "2026:03:14 15:09:26")]
        if let note { exif.exif.append(.bytes(0x927c, note)) }
        exif.gps = ExifBuilder.gpsFields
        return exif
    }

    private static let iptc: [UInt8] = {
        let datasets: [UInt8] = [0x1c, 2, 5, 0, 1, 0x54, 0x1c, 2, 90, 0, 4] + Array("Town".utf8)
        let resource = Array("8BIM".utf8) + [4, 4, 0, 0, 0, 0, 0, UInt8(datasets.count)] + datasets + [0]
        return JPEGPieces.segment(0xed, Array("Photoshop 3.0\0".utf8) + resource)
    }()

    private static func packet(_ inside: String, attributes: String = "") -> [UInt8] {
        Array(
            ("<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>"
                + "<rdf:Description rdf:about='' xmlns:exif='http://ns.adobe.com/exif/1.0/' \(attributes)>\(inside)"
                + "</rdf:Description></rdf:RDF></x:xmpmeta>").utf8)
    }

    private static let element = packet(
        "<exif:GPSLatitude>12,30.5S</exif:GPSLatitude><exif:GPSLongitude>45,15W</exif:GPSLongitude>")

    /// A first packet without a place, and an extended one with a place that is cut inside a name.
    private static let extended: [UInt8] = {
        let note =
            "xmlns:xmpNote='http://ns.adobe.com/xmp/note/' xmpNote:HasExtendedXMP='\(String(repeating: "A", count: 32))'"
        let cut = 250
        return JPEGPieces.xmp(packet("", attributes: note))
            + JPEGPieces.extendedXMP(Array(element[..<cut]), whole: element.count, at: 0)
            + JPEGPieces.extendedXMP(Array(element[cut...]), whole: element.count, at: cut)
    }()

    static let photos: [(name: String, photo: [UInt8])] = [
        ("EXIF, little-endian", JPEGPieces.photo(with: exif(true).segment)),
        ("EXIF, big-endian", JPEGPieces.photo(with: exif(false).segment)),
        ("EXIF with maker's notes", JPEGPieces.photo(with: exif(true, note: Array("NOTES\0 City Town".utf8)).segment)),
        ("XMP elements", JPEGPieces.photo(with: JPEGPieces.xmp(element))),
        ("XMP attributes", JPEGPieces.photo(with: JPEGPieces.xmp(Array(JPEGPieces.packetWithPosition.utf8)))),
        ("extended XMP", JPEGPieces.photo(with: extended)), ("IPTC", JPEGPieces.photo(with: iptc)),
        ("a second image", JPEGPieces.photo(andSecond: JPEGPieces.photo(with: exif(false).segment))),
        ("all", JPEGPieces.photo(with: exif(true).segment + extended + iptc + JPEGPieces.xmp(element)) + [0, 0, 0]),
    ]

    /// Tags as exiftool prints them, without those of the file itself.
    private static func tags(_ photo: [UInt8]) throws -> [String] {
        let folder = try TemporaryFolder()
        try folder.write(photo, to: "photo.jpg")
        let options = ["-a", "-u", "-U", "-ee", "-G1", "-s", "-x", "System:all", "-x", "ExifTool:all", "photo.jpg"]
        let run = try Program.run(
            exiftool, options, in: folder.url, environment: ["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"])
        return run.outputText.split(separator: "\n").map(String.init)
    }

    private static func namesAPlace(_ tag: String) -> Bool {
        ["GPS", "Latitude", "Longitude", "City", "Town", "Location"].contains { tag.contains($0) }
    }

    @Test(.enabled(if: hasExiftool, "needs exiftool"), arguments: photos.indices)
    func leavesNothingThatExiftoolFinds(_ index: Int) throws {
        let (name, photo) = Self.photos[index]
        #expect(PlacesTold.tellsAPosition(photo, kind: .jpeg) != nil, "\(name)")
        let clean = try PositionRemoval.apply(to: photo)
        #expect(clean.count == photo.count)
        #expect(PlacesTold.tellsAPosition(clean, kind: .jpeg) == nil, "\(name)")
        #expect(try !JPEGStructure(clean).holdsPosition, "\(name)")
        #expect(try JPEGStructure(clean).oddity == nil, "\(name)")
        let (before, after) = (try Self.tags(photo), try Self.tags(clean))
        #expect(before.contains(where: Self.namesAPlace), "\(name)")
        #expect(!after.contains(where: Self.namesAPlace), "\(name)")
        #expect(!after.contains { $0.contains("Warning") }, "\(name)")
        // exiftool derives composite tags from others.
        let kept = before.filter { $0.contains("IFD") && !Self.namesAPlace($0) && !$0.contains("MakerNote") }
        #expect(kept.allSatisfy { after.contains($0) }, "\(name)")
        // The scan is at the end of the small photos.
        #expect(clean.suffix(RawFolder.photo.count - 71) == photo.suffix(RawFolder.photo.count - 71), "\(name)")
        #expect(try PositionRemoval.apply(to: clean) == clean, "\(name)")
    }

    @Test(
        .enabled(if: hasExiftool && Places.shared("captures") != nil, "needs the captures of the shared folder"),
        arguments: ["portrait-iphone12mini", "portrait-iphonex-depth"])
    func keepsPictureAndDepthOfPortraitPhotos(_ name: String) throws {
        let photo = try #require(Places.shared("captures/\(name)/photo.jpg")).bytes
        let clean = try PositionRemoval.apply(to: photo)
        #expect(clean.count == photo.count)
        let (before, after) = (try Self.tags(photo), try Self.tags(clean))
        #expect(!after.contains(where: Self.namesAPlace))
        let kept = before.filter { !Self.namesAPlace($0) && !$0.hasPrefix("[Composite]") }
        #expect(kept.allSatisfy { after.contains($0) })
        #expect(clean.suffix(photo.count - 20_000) == photo.suffix(photo.count - 20_000))
        let depth = try #require(PortraitDepth.find(in: clean))
        #expect(depth.picture == PortraitDepth.find(in: photo)?.picture)
        #expect(PhotoFacts(jpeg: clean)?.position == nil)
    }

    private static let depth =
        "xmlns:d='http://ns.apple.com/depthData/1.0/' d:Accuracy='relative' exif:GPSLatitude='1,2N'"
    private static let shared: [UInt8] = {
        // The last GPS value is at the end; the model's value is made to point there.
        var exif = Self.exif(true)
        exif.main = [.text(0x0110, "Test 7")]
        var tiff = exif.tiff
        let end = tiff.count - 8
        tiff.replaceSubrange(18..<20, with: [UInt8(end & 0xff), UInt8(end >> 8)])
        return JPEGPieces.segment(0xe1, Array("Exif\0\0".utf8) + tiff)
    }()

    static let refused: [(photo: [UInt8], words: String)] = [
        (JPEGPieces.photo(with: JPEGPieces.xmp(packet("", attributes: depth))), "describes its depth"),
        (JPEGPieces.photo(with: shared), "share bytes"),
        (JPEGPieces.photo(with: JPEGPieces.exifWithPosition) + Array("ftypmp42".utf8), "other data after"),
        (Array(JPEGPieces.photo(with: JPEGPieces.exifWithPosition).dropLast(2)), "structure is broken"),
        (Array(RawFolder.photo.dropLast(2)) + exif(true).segment + [0xff, 0xd9], "between the parts"),
        ([], "broken"),
    ]

    @Test(arguments: refused.indices)
    func refusesWithWords(_ index: Int) {
        let (photo, words) = Self.refused[index]
        let error = #expect(throws: BundleError.self) { try PositionRemoval.apply(to: photo) }
        #expect(error?.code == .rawCapture)
        #expect(error?.message.contains(words) ?? false, "\(error?.message ?? "")")
    }

    /// Whatever is changed in a photo: the result has no position and the same length, or there is none.
    @Test func survivesTruncationsAndBitFlips() throws {
        for (_, photo) in Self.photos.suffix(isLongRun ? 3 : 1) {
            try Damage.each(photo, count: 40) { bytes in
                _ = PlacesTold.tellsAPosition(bytes, kind: .jpeg)
                guard let clean = try? PositionRemoval.apply(to: bytes) else { return }
                let holdsPosition = try JPEGStructure(clean).holdsPosition
                #expect(clean.count == bytes.count && !holdsPosition)
            }
        }
    }
}
