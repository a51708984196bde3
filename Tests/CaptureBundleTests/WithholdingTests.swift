import CaptureTestSupport
import Foundation
import SystemPackage
import Testing

@testable import CaptureBundle

/// Entries are withheld and put back; the device's signature stays valid.
struct WithholdingTests {
    private let folder: TemporaryFolder
    private let key: DeviceKeyFile

    init() throws {
        folder = try TemporaryFolder()
        key = DeviceKeyFile(path: folder.path("keys/device.key"))
        _ = try key.create(passphrase: nil)
    }

    private static func selection(_ words: [String]) -> EntrySelection {
        var selection = EntrySelection()
        for word in words where !selection.add(word) { Issue.record("\(word) names no entry") }
        return selection
    }

    private static let confidence = PictureFiles.png(
        width: 4, height: 3, bits: 8, colour: 0, rows: [[UInt8]](repeating: [0, 1, 2, 2], count: 3))

    /// Packs a capture whose photo, depth map, confidence map and position can be withheld.
    private func pack(
        photo: [UInt8] = RawFolder.photo, metadata: String = RawFolder.metadata,
        withholdable: [String] = ["photo", "depth.f32", "confidence.png"]
    ) throws -> [UInt8] {
        try RawFolder.write(to: folder, photo: photo, metadata: metadata)
        try folder.write(Self.confidence, to: "raw/confidence.png")
        var options = RawCaptureOptions()
        options.withholdable = Self.selection(withholdable)
        _ = try Packer(key: key).pack(folder.path("raw"), to: .replacing(folder.path("a.bundle")), options: options)
        return try folder.bytes("a.bundle")
    }

    private func redact(_ words: [String], keepsPhotoLocation: Bool = false) throws -> Redactor.Redacted {
        try Redactor(withholding: Self.selection(words), keepsPhotoLocation: keepsPhotoLocation)
            .redact(BundleSource(path: folder.path("a.bundle")), to: .replacing(folder.path("b.bundle")))
    }

    private func verify(_ name: String) throws -> VerificationReport {
        try Verifier(trust: TrustFile(), policy: VerificationPolicy(allowsWithheld: true))
            .verify(BundleSource(path: folder.path(name)))
    }

    /// Cuts members out of an archive. It reads only name and size of the headers.
    private static func cut(_ names: [String], of tar: [UInt8]) throws -> [UInt8] {
        var (kept, position): ([UInt8], Int) = ([], 0)
        while position < tar.count, tar[position] != 0 {
            let name = String(decoding: tar[position..<(position + 100)].prefix { $0 != 0 }, as: UTF8.self)
            let digits = String(decoding: tar[(position + 124)..<(position + 135)], as: UTF8.self)
            let size = try #require(Int(digits, radix: 8))
            let end = position + 512 + (size + 511) / 512 * 512
            if !names.contains(name) { kept += tar[position..<end] }
            position = end
        }
        return kept + tar[position...]
    }

    /// Each subset of the withholdable entries is withheld and put back. `FileManager` writes what was kept.
    @Test func everySubsetIsCutOutAndPutBack() throws {
        let whole = try pack()
        let names = ["confidence.png", "depth.f32.gz", "location.json", "photo.jpg"]
        _ = try Extractor().extract(BundleSource(path: folder.path("a.bundle")), to: .folder(folder.path("kept")))
        for mask in 1..<(1 << names.count) {
            let subset = names.indices.filter { mask & 1 << $0 != 0 }.map { names[$0] }
            let redacted = try redact(subset)
            let bytes = try folder.bytes("b.bundle")
            #expect(bytes == (try Self.cut(subset, of: whole)))
            #expect(redacted.byteCount == bytes.count && redacted.withheldBefore.isEmpty)
            #expect(redacted.withheld.map(\.path.description) == subset)
            let report = try verify("b.bundle")
            #expect(report.verdict == .unknownDevice && report.withheld.map(\.description) == subset)

            let restored = try Restorer(kept: subset.reversed().map { folder.path("kept/\($0)") })
                .restore(BundleSource(path: folder.path("b.bundle")), to: .replacing(folder.path("c.bundle")))
            #expect(try folder.bytes("c.bundle") == whole)
            #expect(restored.restored.map(\.path.description) == subset && restored.withheld.isEmpty)
            #expect(restored.byteCount == whole.count)
        }
    }

    /// A changed byte anywhere is refused with the verdict on the bundle, even in an entry that would be cut out.
    @Test func refusesABundleThatIsNotSound() throws {
        let whole = try pack()
        for changed in Damage.flips(whole, count: 20) {
            try folder.write(changed, to: "a.bundle")
            let error = #expect(throws: BundleError.self) { try redact(["location", "photo"]) }
            #expect(error?.verdict != nil, "\(error?.description ?? "")")
            #expect(!FileManager.default.fileExists(atPath: folder.path("b.bundle")))
        }
    }

    // MARK: - Positions

    private static let photoWithPosition = JPEGPieces.photo(with: JPEGPieces.exifWithPosition)

    @Test func refusesToHideAPositionThatThePhotoTells() throws {
        let whole = try pack(photo: Self.photoWithPosition)
        let error = #expect(throws: BundleError.self) { try redact(["location"]) }
        #expect(error?.code == .redactPosition && error?.entry == "photo.jpg")
        #expect(error?.hints.contains { $0.contains("--withhold location.json,photo.jpg") } ?? false)
        #expect(!FileManager.default.fileExists(atPath: folder.path("b.bundle")))

        _ = try redact(["location", "photo"])
        #expect(try folder.bytes("b.bundle") == Self.cut(["location.json", "photo.jpg"], of: whole))
        _ = try redact(["location"], keepsPhotoLocation: true)
        #expect(try folder.bytes("b.bundle") == Self.cut(["location.json"], of: whole))
        // Without the position in the list, nothing is promised about it.
        _ = try redact(["depth"])
    }

    private func hidePosition(_ others: [String] = []) throws -> Redactor.Redacted {
        try Redactor(hidingPositionAnd: Self.selection(others))
            .redact(BundleSource(path: folder.path("a.bundle")), to: .replacing(folder.path("b.bundle")))
    }

    @Test func hidesThePositionOfABundleWithAndWithoutOne() throws {
        let whole = try pack()
        #expect(try hidePosition().withheld.map(\.path) == [.location])
        #expect(try folder.bytes("b.bundle") == Self.cut(["location.json"], of: whole))

        let bare = RawFolder.metadata.replacing(/"location": {[^}]*},/, with: "")
        let without = try pack(metadata: bare)
        #expect(try hidePosition().withheld.isEmpty)
        #expect(try folder.bytes("b.bundle") == without)
        #expect(throws: BundleError.self) { try redact(["location"]) }

        // A photo that tells the position is found also if the bundle has no location.json.
        let telling = try pack(photo: Self.photoWithPosition, metadata: bare)
        let error = #expect(throws: BundleError.self) { try hidePosition() }
        #expect(error?.code == .redactPosition && error?.entry == "photo.jpg")
        #expect(try hidePosition(["photo"]).withheld.map(\.path) == [.photo])
        #expect(try folder.bytes("b.bundle") == Self.cut(["photo.jpg"], of: telling))
    }

    private static let sourceFiles: [(name: String, bytes: [UInt8], isTelling: Bool)] = [
        ("frame.json", Array(#"{"a": {"latitude": 1}}"#.utf8), true), ("frame.json", Array("{}".utf8), false),
        ("x.f32", photoWithPosition, true), ("x.f32", RawFolder.photo, false),
        ("x.f32", Array("latitude".utf8), true), ("x.raw", Array("Exif\0\0\u{1}".utf8), true),
        ("rows.csv", Array("time,lat,lon\n1,2,3\n".utf8), true), ("rows.tsv", Array("time\tgps\n1\t2\n".utf8), true),
        ("track.gpx", Array("<gpx><trkpt/></gpx>".utf8), true), ("almost.json", Array(#"{"lat": 1,}"#.utf8), true),
        ("track.kml", Array("<kml><coordinates>1,2</coordinates></kml>".utf8), true),
        ("log.txt", Array("$GNGLL,5919.7,N,01804.1,E\n".utf8), true),
        ("wide.json", [0xff, 0xfe, 0x7b, 0, 0x22, 0, 0x6c, 0, 0x61, 0, 0x74, 0, 0x22, 0], true),
        ("log.txt", Array("time, depth, position of the lamp\n".utf8), false),
        ("rows.csv", Array("time,x,y\n1,2,3\n".utf8), false), ("x.f32", [0, 0, 128, 63], false),
        ("x.webp", Array("RIFF\0\0\0\0WEBPVP8 ".utf8), true), ("x.gif", Array("GIF89a".utf8), true),
        ("x.jxl", Array("\0\0\0\u{c}JXL \r\n".utf8), true), ("y.jpg", Array("\0x".utf8), true),
        ("x.gz", [0x1f, 0x8b, 8, 0, 0, 0], true), ("x.zip", Array("PK\u{3}\u{4}".utf8), true),
        ("notes.txt", Array("latitude".utf8), true),
        ("x.bin", PictureFiles.chunk("none", []), false),
    ]

    /// Files below `source/` are judged by their first bytes, whatever their name says.
    @Test func searchesSourceFiles() throws {
        for (name, bytes, isTelling) in Self.sourceFiles {
            let path = try #require(EntryPath("source/\(name)"))
            var places = RemainingPlaces(PictureDecoder())
            let entry = ManifestEntry(path: path, size: bytes.count, sha256: try Digest.of(bytes))
            places.begin(entry)
            for byte in bytes { places.take([byte].span) }
            places.end()
            let manifest = try Manifest(
                capturedAt: #require(CaptureTime("2026-03-14T14:09:26.535Z")), device: key.publicKey(),
                entries: [entry], depth: nil)
            #expect((places.refusal("a.bundle", manifest) != nil) == isTelling, "\(name)")
        }
    }

    // MARK: - What does not fit

    @Test func refusesAnUnsoundResult() throws {
        let whole = try pack()
        _ = try redact(["photo"])
        let redacted = try folder.bytes("b.bundle")
        for changed in Damage.flips(redacted, count: 20) {
            try folder.write(changed, to: "b.bundle")
            let error = #expect(throws: BundleError.self) {
                try Restorer(kept: [folder.path("raw/photo.jpg")])
                    .restore(BundleSource(path: folder.path("b.bundle")), to: .file(folder.path("c.bundle")))
            }
            #expect(error?.verdict != nil || error?.code == .restoreUnknown)
            #expect(!FileManager.default.fileExists(atPath: folder.path("c.bundle")))
        }
        // A damaged bundle that was kept is refused too.
        var damaged = whole
        damaged[whole.count - 1100] ^= 1
        try folder.write(redacted, to: "b.bundle")
        try folder.write(damaged, to: "damaged.bundle")
        let error = #expect(throws: BundleError.self) {
            try Restorer(kept: [folder.path("damaged.bundle")])
                .restore(BundleSource(path: folder.path("b.bundle")), to: .file(folder.path("c.bundle")))
        }
        #expect(error?.verdict != nil && error?.file == folder.path("damaged.bundle"))
    }

}
