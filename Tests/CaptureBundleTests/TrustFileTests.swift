import CaptureBundle
import CaptureDevice
import CaptureTestSupport
import Foundation
import Testing

struct TrustFileTests {
    private static func device(_ name: String, in folder: TemporaryFolder) throws -> TrustedDeviceLine {
        let key = try DeviceKeyFile(path: folder.path(name)).create(passphrase: nil)
        return try TrustedDeviceLine(name: name, point: key.point)
    }

    @Test func keepsCommentsAndOrder() throws {
        let folder = try TemporaryFolder()
        let first = try Self.device("first", in: folder)
        let second = try Self.device("second", in: folder)
        try folder.write("# rigs\n\n\(first.text)\n", to: "trust")
        try TrustFile.update(path: folder.path("trust")) { file in try file.add(second) }
        let revoked = try TrustFile.update(path: folder.path("trust")) { file in
            try file.revoke(name: "first")
        }
        #expect(revoked == 1)
        let text = String(decoding: try folder.bytes("trust"), as: UTF8.self)
        #expect(text == "# rigs\n\nfirst revoked p256 \(first.point.base64)\n\(second.text)\n")
    }
}
