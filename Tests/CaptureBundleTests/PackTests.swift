import CaptureBundle
import CaptureDevice
import CaptureImport
import CaptureNative
import CapturePages
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

    @Test func movesThePositionOutOfTheMetadataAndKeepsTheRest() throws {
        try RawFolder.write(to: folder)
        _ = try pack()
        let view = try UntrustedView(BundleSource(path: folder.path("a.bundle")))
        #expect(view.position?.latitude == "12.345678")
        let metadata = try #require(view.report.metadata)
        #expect(metadata.root["location"] == nil)
        let kept = #"{"kept":[1,2.50,"ü"]}"#
        #expect(metadata.root["unknown"].map { CanonicalJSON.encode($0) } == Array(kept.utf8))
        #expect(view.depth?.samples == 12)
        #expect(view.depth?.missing == 2)
        #expect(view.depth?.minimum == 0.5)
        #expect(view.depth?.median == 2.75)
        #expect(view.depth?.maximum == 5)
    }

    @Test func roundsACoarsePositionAndDropsWhatTellsMore() throws {
        try RawFolder.write(to: folder)
        _ = try pack(options: RawCaptureOptions(location: .coarse))
        let position = try #require(try UntrustedView(BundleSource(path: folder.path("a.bundle"))).position)
        #expect((position.latitude, position.longitude) == ("12.35", "-45.68"))
        #expect(position.root["altitude"] == nil)
    }

    @Test func sharesNothingBetweenAnExactAndACoarsePosition() throws {
        try RawFolder.write(to: folder)
        _ = try pack("exact")
        _ = try pack("coarse", options: RawCaptureOptions(location: .coarse))
        let salts = try ["exact", "coarse"].map { name in
            try UntrustedView(BundleSource(path: folder.path(name))).position?.root["salt"]?.text
        }
        #expect(salts[0] != nil && salts[0] != salts[1])
    }

    @Test func givesTheSameManifestEachTimeAndAnotherCounter() throws {
        try RawFolder.write(to: folder)
        let (first, _) = try pack("a")
        let (second, _) = try pack("b")
        #expect(first.manifest.encode() == second.manifest.encode())
        #expect((first.counter, second.counter) == (1, 2))
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
}
