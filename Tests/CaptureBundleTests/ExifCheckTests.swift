import CaptureBundle
import CaptureImport
import CaptureTestSupport
import Foundation
import Testing

/// What a verifier says if the photo disagrees with the metadata.
struct ExifCheckTests {
    private static let vectors: [VectorFile] = ((try? VectorFile.all(of: "exif")) ?? []).filter {
        $0.arguments == ["--require", "exif"] && $0.expectedExit != 1
    }

    private static func report(
        _ vector: VectorFile, requires: [VerificationPolicy.Part] = [], allowsWithheld: Bool = false
    ) throws -> VerificationReport {
        let trust = try TrustFile(bytes: Array(vector.trust.map { $0 + "\n" }.joined().utf8), name: "trust")
        return try Verifier(trust: trust, policy: .init(required: requires, allowsWithheld: allowsWithheld))
            .verify(BundleSource(bytes: vector.content))
    }

    private static func codes(_ errors: [BundleError]) -> [String] { errors.map(\.code.rawValue) }

    /// Each vector without `--require exif`.
    @Test(arguments: vectors)
    func warnsOfWhatItWouldRefuse(_ vector: VectorFile) throws {
        let report = try Self.report(vector)
        let isExif = { (code: String) in code.hasPrefix("exif.") }
        // A withheld position gives its warning in both cases.
        let withheld = vector.expectedCodes.contains("policy.withheld") ? ["exif.position"] : []
        #expect(Self.codes(report.warnings).sorted() == vector.expectedCodes.filter(isExif) + withheld)
        #expect(!Self.codes(report.faults).contains { isExif($0) || $0 == "policy.required" })
    }

    @Test func thereAreVectorsForBothAnswers() {
        #expect(Self.vectors.contains { $0.expectedExit == 4 })
        #expect(Self.vectors.contains { $0.expectedExit == 0 })
    }

    @Test func saysNothingAboutThePlaceItself() throws {
        for vector in try VectorFile.all(of: "exif") where vector.expectedCodes.contains("exif.position") {
            let findings = try Self.report(vector, requires: [.exif]).faults
            let message = try #require(findings.first { $0.code == .exifPosition }?.message)
            #expect(message == "the position in its EXIF is more than 0.02 degrees from location.json")
        }
    }

    /// Pieces of every length give the same header as the whole photo.
    @Test func readsAPhotoInPieces() throws {
        var exif = ExifBuilder(isLittle: true)
        exif.main = [.text(0x0110, "Test 7")]
        let filler = JPEGPieces.segment(0xe1, Array("http://ns.adobe.com/xap/1.0/\0".utf8))
        let plain = JPEGPieces.photo(with: exif.segment)
        let photo = Array(plain[..<2]) + filler + Array(plain[2...])
        for length in [1, 2, 3, 7, 64, photo.count] {
            var walk = JPEGWalk(size: photo.count, readsHeaderOnly: true)
            for piece in photo.pieces(of: length) { try walk.consume(piece.span) }
            let header = walk.finishHeader()
            #expect(header.exif?.model == "Test 7")
            #expect(header.frame?.description == "8x8")
        }
    }

    /// The search ends after 1 MiB, so a photo cannot make a verifier keep more than one segment.
    @Test func readsNothingBeyondTheLimit() throws {
        let filler = JPEGPieces.segment(0xfe, [UInt8](repeating: 0, count: 65_533))
        var exif = ExifBuilder(isLittle: true)
        exif.main = [.text(0x0110, "Test 7")]
        let plain = JPEGPieces.photo(with: exif.segment)
        let (start, rest) = (Array(plain[..<2]), Array(plain[2...]))
        for (count, isFound) in [(15, true), (16, false)] {
            var walk = JPEGWalk(size: plain.count + count * filler.count, readsHeaderOnly: true)
            try walk.consume(start.span)
            for _ in 0..<count { try walk.consume(filler.span) }
            try walk.consume(rest.span)
            #expect((walk.finishHeader().exif != nil) == isFound)
        }
    }

    @Test(arguments: [".5Z", "5Z", "", "01:00"])
    func takesOnlyAZoneAsAnOffset(_ text: String) {
        var exif = ExifBuilder(isLittle: true)
        exif.exif = [.text(0x9003, "2026:03:14 15:09:26"), .text(0x9011, text)]
        #expect(PhotoFacts(exif: exif.tiff)?.time?.offset == nil)
        #expect(ZoneOffset(text) == nil)
    }
}
