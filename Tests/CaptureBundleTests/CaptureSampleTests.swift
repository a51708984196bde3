import CaptureBundle
import CaptureTestSupport
import Foundation
import SystemPackage
import Testing

/// Tests with real captures, if they lie beside the checkout.
struct CaptureSampleTests {
    static let captures: [URL] = ((try? Places.shared("captures")?.children) ?? []).filter {
        FileManager.default.fileExists(atPath: $0.appending(path: "photo.jpg").path())
    }

    @Test(.enabled(if: Places.shared("captures") != nil, "needs the captures of the shared folder"))
    func thereAreTen() { #expect(Self.captures.count == 10) }

    @Test(arguments: captures.map(\.lastPathComponent))
    func packsVerifiesAndShowsEveryChange(_ name: String) throws {
        let raw = try #require(Places.shared("captures/\(name)"))
        let folder = try TemporaryFolder()
        let key = DeviceKeyFile(path: folder.path("device.key"))
        var trust = TrustFile()
        try trust.add(TrustedDeviceLine(name: "rig", point: key.create(passphrase: nil).point))
        _ = try Packer(key: key).pack(FilePath(raw.path()), to: .file(folder.path("a")))
        let bytes = try folder.bytes("a")
        let verifier = Verifier(trust: trust)
        let report = try verifier.verify(BundleSource(path: folder.path("a")))
        #expect(report.verdict == .verified)
        #expect(!report.warnings.contains { $0.code.rawValue.hasPrefix("exif.") }, "\(report.warnings)")
        var generator = SeededGenerator(seed: 10)
        for _ in 0..<40 {
            var changed = bytes
            changed[Int.random(in: 0..<bytes.count, using: &generator)] ^=
                1 << UInt8.random(in: 0..<8, using: &generator)
            let verdict = try verifier.verify(BundleSource(bytes: changed)).verdict
            #expect(verdict == .altered || verdict == .malformed)
        }
    }
}
