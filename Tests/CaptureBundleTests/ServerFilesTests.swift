import CaptureBundle
import CaptureTestSupport
import Foundation
import Testing

/// What a server that receives bodies uses: a hash over pieces, and small files that are created once.
struct ServerFilesTests {
    @Test func hashesPiecesLikeTheWhole() throws {
        let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let stream = try DigestStream()
        for start in stride(from: 0, to: bytes.count, by: 777) {
            try stream.update(Array(bytes[start..<min(start + 777, bytes.count)]).span)
        }
        #expect(try stream.finish() == Digest.of(bytes))
        #expect(try stream.finish() == Digest.of([]))
    }

    @Test func createsAFileOnce() throws {
        let folder = try TemporaryFolder()
        #expect(try WholeFile.create(folder.path("one"), [1, 2]))
        #expect(try !WholeFile.create(folder.path("one"), [3]))
        #expect(try URL(filePath: folder.path("one") as String).bytes == [1, 2])
        #expect(throws: BundleError.self) { try WholeFile.create(folder.path("missing/one"), [1]) }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path("") as String)
        #expect(names == ["one"])
    }

    @Test func namesOfDevicesHaveAForm() {
        #expect(["rig-4", "a", "A.b_c@d+e"].allSatisfy(TrustedDeviceLine.isName))
        #expect(["", "a b", "-a", "ä", String(repeating: "a", count: 65)].allSatisfy { !TrustedDeviceLine.isName($0) })
    }
}
