import CaptureDevice
import CaptureImport
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
        confidence: [UInt8] = Self.confidence, withholdable: [String] = ["photo", "depth.f32", "confidence.png"]
    ) throws -> [UInt8] {
        try RawFolder.write(to: folder, photo: photo, metadata: metadata)
        try folder.write(confidence, to: "raw/confidence.png")
        var options = RawCaptureOptions()
        options.withholdable = Self.selection(withholdable)
        _ = try Packer(key: key).pack(folder.path("raw"), to: .replacing(folder.path("a.bundle")), options: options)
        return try folder.bytes("a.bundle")
    }

    private func redact(_ words: [String], keepsPhotoLocation: Bool = false) throws -> PartialCopy {
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
            #expect(redacted.byteCount == bytes.count && redacted.lacking.isEmpty)
            #expect(redacted.moved.map(\.path.description) == subset)
            let report = try verify("b.bundle")
            #expect(report.verdict == .unknownDevice && report.withheld.map(\.description) == subset)

            let restored = try Restorer(kept: subset.reversed().map { folder.path("kept/\($0)") })
                .restore(BundleSource(path: folder.path("b.bundle")), to: .replacing(folder.path("c.bundle")))
            #expect(try folder.bytes("c.bundle") == whole)
            #expect(restored.moved.map(\.path.description) == subset && restored.lacking.isEmpty)
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
        #expect(error?.values == ["location.json,photo.jpg"])
        #expect(!FileManager.default.fileExists(atPath: folder.path("b.bundle")))

        _ = try redact(["location", "photo"])
        #expect(try folder.bytes("b.bundle") == Self.cut(["location.json", "photo.jpg"], of: whole))
        _ = try redact(["location"], keepsPhotoLocation: true)
        #expect(try folder.bytes("b.bundle") == Self.cut(["location.json"], of: whole))
        // Without the position in the list, nothing is promised about it.
        _ = try redact(["depth"])
    }

    private func hidePosition(_ others: [String] = []) throws -> PartialCopy {
        try Redactor(hidingPositionAnd: Self.selection(others))
            .redact(BundleSource(path: folder.path("a.bundle")), to: .replacing(folder.path("b.bundle")))
    }

    @Test func hidesThePositionOfABundleWithAndWithoutOne() throws {
        let whole = try pack()
        #expect(try hidePosition().moved.map(\.path) == [.location])
        #expect(try folder.bytes("b.bundle") == Self.cut(["location.json"], of: whole))

        let bare = RawFolder.metadata.replacing(/"location": {[^}]*},/, with: "")
        let without = try pack(metadata: bare)
        #expect(try hidePosition().moved.isEmpty)
        #expect(try folder.bytes("b.bundle") == without)
        #expect(throws: BundleError.self) { try redact(["location"]) }

        // A photo that tells the position is found also if the bundle has no location.json.
        let telling = try pack(photo: Self.photoWithPosition, metadata: bare)
        let error = #expect(throws: BundleError.self) { try hidePosition() }
        #expect(error?.code == .redactPosition && error?.entry == "photo.jpg")
        #expect(try hidePosition(["photo"]).moved.map(\.path) == [.photo])
        #expect(try folder.bytes("b.bundle") == Self.cut(["photo.jpg"], of: telling))
    }

    /// What leaked before, or could: each is refused by `redact`, and refused or left out by `pack --location omit`.
    @Test func refusesWhatIsNotListed() throws {
        let exif = Array(JPEGPieces.exifWithPosition[10...])
        let telling = Self.confidence.dropLast(12) + PictureFiles.chunk("eXIf", exif) + Self.confidence.suffix(12)
        let end = PictureFiles.chunk("IEND", Array("N 12 30 15".utf8))
        let cases: [(String, photo: [UInt8], confidence: [UInt8], metadata: String)] = [
            ("photo.jpg", JPEGPieces.photo(with: JPEGPieces.xmp(Array("<a>N 12 30 15</a>".utf8))), Self.confidence, ""),
            ("confidence.png", RawFolder.photo, Array(telling), ""),
            ("confidence.png", RawFolder.photo, Self.confidence + [0], ""),
            ("confidence.png", RawFolder.photo, Self.confidence.dropLast(12) + end + Self.confidence.suffix(12), ""),
            ("metadata.json", RawFolder.photo, Self.confidence, #""a": [{"GPSLatitude": 1}], "#),
        ]
        for (entry, photo, confidence, more) in cases {
            let metadata = RawFolder.metadata.replacing("\"unknown\"", with: more + "\"unknown\"")
            _ = try pack(photo: photo, metadata: metadata, confidence: confidence)
            let error = #expect(throws: BundleError.self) { try redact(["location"]) }
            #expect(error?.code == .redactPosition && error?.entry == entry && error?.further.isEmpty == true)
            #expect(error?.values == [entry == "metadata.json" ? "" : "location.json,\(entry)"])
            _ = try redact(["location"], keepsPhotoLocation: true)

            var options = RawCaptureOptions(location: .omit)
            let packer = Packer(key: key)
            func packed() throws -> Packer.Packed {
                try packer.pack(folder.path("raw"), to: .replacing(folder.path("a.bundle")), options: options)
            }
            if entry == "confidence.png" {
                let made = try packed()
                #expect(made.remarks.map(\.code) == ["raw.ignored"] && made.manifest.entry(.confidence) == nil)
            } else {
                let refused = #expect(throws: BundleError.self) { try packed() }
                #expect(refused?.code == .rawPosition && refused?.file?.hasSuffix("raw/\(entry)") == true)
            }
            options.keepsPhotoLocation = true
            let kept = try packed()
            #expect(kept.manifest.entry(.confidence) != nil)
            #expect(kept.remarks.contains { $0.code == "metadata.position" } == (entry == "metadata.json"))
        }
    }

    /// A confidence map whose chunks are listed, but hold other bytes than its rows.
    @Test func readsAConfidenceMapToItsEnd() {
        let text = Array("N 12 30 15".utf8)
        let rows = [[UInt8]](repeating: [0, 1, 2, 2], count: 3)
        let stream = PictureFiles.zlib(rows.flatMap { [0] + $0 })
        func map(_ parts: [[UInt8]], header: [UInt8] = [8, 0, 0, 0, 0]) -> [UInt8] {
            let head = PictureFiles.big(4, 4) + PictureFiles.big(3, 4) + header
            return Self.confidence.prefix(8) + PictureFiles.chunk("IHDR", head)
                + parts.flatMap { PictureFiles.chunk("IDAT", $0) } + PictureFiles.chunk("IEND", [])
        }
        func changed(_ place: Int, _ value: UInt8) -> [UInt8] {
            var bytes = stream
            bytes[place] = value
            return bytes
        }
        #expect(Unlisted.confidence(map([stream])) == nil && Unlisted.confidence(Self.confidence) == nil)
        #expect(Unlisted.confidence(map([Array(stream[..<9]), [], Array(stream[9...]), []])) == nil)
        let unusual: [(String, [UInt8])] = [
            ("text after the stream", map([stream + text])), ("text in another chunk", map([stream, text])),
            ("a row too many", map([PictureFiles.zlib((rows + [[0, 0, 0, 0]]).flatMap { [0] + $0 })])),
            ("a row too few", map([PictureFiles.zlib(rows[1...].flatMap { [0] + $0 })])),
            ("no end", map([stream.dropLast()])), ("no image data", map([])),
            ("another Adler-32", map([changed(stream.count - 1, stream[stream.count - 1] ^ 1)])),
            // FDICT is set, and the check bits fit (RFC 1950 section 2.2).
            ("a preset dictionary", map([[0x78, 0x20] + text.prefix(4) + stream.dropFirst(2)])),
            ("an unknown filter", map([PictureFiles.zlib(rows.flatMap { [5] + $0 })])),
            ("interlacing", map([stream], header: [8, 0, 0, 0, 1])),
            ("16 bits", map([stream], header: [16, 0, 0, 0, 0])),
        ]
        for (name, png) in unusual { #expect(Unlisted.confidence(png) != nil, "\(name)") }
        for place in [29, Self.confidence.count - 1] {
            var png = Self.confidence
            png[place] ^= 1
            #expect(Unlisted.confidence(png)?.hasSuffix("wrong CRC") ?? false)
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
