import CaptureBundle
import CaptureTestSupport
import Foundation
import Testing

/// What a server that receives bodies uses: a hash over pieces, small files that are created once, and keys of devices.
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

    /// The example of RFC 7517, appendix A.1.
    @Test func decodesAKeyFromAJSONWebKey() throws {
        let x = "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4"
        let y = "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"
        func decode(_ kty: String = "EC", _ crv: String = "P-256", x: String = x, y: String = y) throws -> DevicePoint {
            let members = ["kty": kty, "crv": crv, "x": x, "y": y]
            return try JSONDecoder().decode(DevicePoint.self, from: JSONEncoder().encode(members))
        }
        let point = try decode()
        #expect(point.bytes.count == 65 && point.bytes.prefix(3) == [0x04, 0x30, 0xa0])
        #expect(throws: DecodingError.self) { try decode("RSA") }
        #expect(throws: DecodingError.self) { try decode("EC", "P-384") }
        #expect(throws: DecodingError.self) { try decode(x: y) }
        #expect(throws: DecodingError.self) { try decode(x: x + "=") }
        #expect(throws: DecodingError.self) { try decode(y: "AAAA") }
    }
}
