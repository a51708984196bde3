import CaptureBundle
import CaptureNative
import CaptureTestSupport
import Foundation
import Testing

/// A raw folder becomes a bundle, and the bundle gives the same files back.
struct PackTests {
    private let folder: TemporaryFolder
    private let key: DeviceKeyFile
    private let trust: TrustFile

    init() throws {
        folder = try TemporaryFolder()
        key = DeviceKeyFile(path: folder.path("keys/device.key"))
        let device = try key.create(passphrase: nil)
        var file = TrustFile()
        try file.add(TrustedDeviceLine(name: "rig", point: device.point))
        trust = file
    }

    private func pack(
        _ name: String = "a.bundle", options: RawCaptureOptions = RawCaptureOptions()
    ) throws -> (Packer.Packed, VerificationReport) {
        let packed = try Packer(key: key).pack(folder.path("raw"), to: .file(folder.path(name)), options: options)
        let report = try Verifier(trust: trust).verify(BundleSource(path: folder.path(name)))
        #expect(packed.byteCount == report.bytes)
        return (packed, report)
    }

    /// The hint to use --force must never lead to the loss of the capture.
    @Test(arguments: ["raw/photo.jpg", "raw/depth.f32", "raw/metadata.json"])
    func neverReplacesAFileOfTheCapture(_ name: String) throws {
        try RawFolder.write(to: folder)
        let before = try Data(contentsOf: URL(fileURLWithPath: folder.path(name)))
        let error = #expect(throws: BundleError.self) {
            try Packer(key: key).pack(folder.path("raw"), to: .replacing(folder.path(name)))
        }
        #expect(error?.code == .outputUnusable)
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.path(name))) == before)
    }

    @Test func verifiesWhatItPacked() throws {
        try RawFolder.write(to: folder)
        let (packed, report) = try pack()
        #expect(report.verdict == .verified)
        #expect(report.manifest?.id == packed.id)
        #expect(report.manifest?.capturedAt.description == "2026-03-14T14:09:26.535Z")
        #expect(report.metadata?.capturedAtText == "2026-03-14T15:09:26.535+01:00")
        #expect(packed.counter == 1)
        #expect(packed.remarks.isEmpty)
    }

    @Test func movesThePositionOutOfTheMetadataAndKeepsTheRest() throws {
        try RawFolder.write(to: folder)
        _ = try pack()
        let inspection = try Inspection(BundleSource(path: folder.path("a.bundle")))
        #expect(inspection.position?.latitude == "12.345678")
        let metadata = try #require(inspection.report.metadata)
        #expect(metadata.root["location"] == nil)
        let kept = #"{"kept":[1,2.50,"ü"]}"#
        #expect(metadata.root["unknown"].map { CanonicalJSON.encode($0) } == Array(kept.utf8))
        #expect(inspection.depth?.samples == 12)
        #expect(inspection.depth?.missing == 2)
        #expect(inspection.depth?.minimum == 0.5)
        #expect(inspection.depth?.median == 2.75)
        #expect(inspection.depth?.maximum == 5)
    }

    @Test func roundsACoarsePositionAndDropsWhatTellsMore() throws {
        try RawFolder.write(to: folder)
        _ = try pack(options: RawCaptureOptions(location: .coarse))
        let position = try #require(try Inspection(BundleSource(path: folder.path("a.bundle"))).position)
        #expect((position.latitude, position.longitude) == ("12.35", "-45.68"))
        #expect(position.root["altitude"] == nil)
    }

    @Test func sharesNothingBetweenAnExactAndACoarsePosition() throws {
        try RawFolder.write(to: folder)
        _ = try pack("exact")
        _ = try pack("coarse", options: RawCaptureOptions(location: .coarse))
        let salts = try ["exact", "coarse"].map { name in
            try Inspection(BundleSource(path: folder.path(name))).position?.root["salt"]?.text
        }
        #expect(salts[0] != nil && salts[0] != salts[1])
    }

    @Test func packsWithoutPositionAndWithoutDepth() throws {
        try RawFolder.write(to: folder)
        let (packed, report) = try pack(options: RawCaptureOptions(withoutDepth: true, location: .omit))
        #expect(packed.manifest.entries.map(\.path) == [.metadata, .photo])
        #expect(report.verdict == .verified)
        #expect(report.metadata?.depthSize == nil)
    }

    @Test func givesTheSameManifestEachTimeAndAnotherCounter() throws {
        try RawFolder.write(to: folder)
        let (first, _) = try pack("a")
        let (second, _) = try pack("b")
        #expect(first.manifest.encode() == second.manifest.encode())
        #expect((first.counter, second.counter) == (1, 2))
    }

    @Test func touchesNoCounterWhenTheTargetIsThere() throws {
        try RawFolder.write(to: folder)
        try folder.write([1], to: "a.bundle")
        let error = #expect(throws: BundleError.self) { try pack() }
        #expect(error?.code == .outputExists)
        #expect(try key.state().counter == 0)
        #expect(try folder.bytes("a.bundle") == [1])
    }

    @Test func packsAPhotoThatIsTooLargeToHold() throws {
        var photo = RawFolder.photo
        photo += [UInt8](repeating: 0x5a, count: PayloadContent.memoryLimit)
        try RawFolder.write(to: folder, photo: photo)
        let (packed, report) = try pack()
        #expect(report.verdict == .verified)
        #expect(packed.remarks.map(\.weight) == [.warning])
        #expect(packed.manifest.entry(.photo)?.sha256 == (try Digest.of(photo)))
    }

    @Test func writesTheVeryBytesThatTheSpecificationGives() throws {
        try RawFolder.write(to: folder)
        _ = try pack()
        let bytes = try folder.bytes("a.bundle")
        #expect(bytes.starts(with: BundleMagic.bytes))
        #expect(bytes.suffix(1024).allSatisfy { $0 == 0 })
        #expect(
            try Digest.of(BundleMagic.bytes).description
                == "d7ae7463019f33bae8ba61fa3bd0f35a487a77637a427e365bd2773b978be240")
    }
}
