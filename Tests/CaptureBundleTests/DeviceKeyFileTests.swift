import CaptureBundle
import CaptureDevice
import CaptureTestSupport
import Foundation
import SystemPackage
import Testing

struct DeviceKeyFileTests {
    private let folder: TemporaryFolder
    private let file: DeviceKeyFile

    init() throws {
        folder = try TemporaryFolder()
        file = DeviceKeyFile(path: folder.path("k/device.key"))
    }

    @Test func endsWhenItsCounterIsUsedUp() throws {
        let device = try file.create(passphrase: nil)
        _ = try file.recover(counter: UInt32.max - 2)
        #expect(throws: BundleError.self) { try file.reserveCounters(3, for: device) }
        #expect(try file.reserveCounters(2, for: device) == UInt32.max - 1)
        #expect(refusal { try file.reserveCounters(1, for: device) }?.code == .keyCounterUsedUp)
    }

    @Test func leavesTheStateOfAKeyThatIsAwayAlone() throws {
        let device = try file.create(passphrase: nil)
        _ = try file.reserveCounters(1, for: device)
        let state = try folder.bytes("k/device.key.state")
        try FileManager.default.moveItem(atPath: file.path, toPath: folder.path("away"))
        #expect(refusal { try file.create(passphrase: nil) }?.code == .outputExists)
        #expect(try folder.bytes("k/device.key.state") == state)
    }

    @Test func refusesAKeyWhoseHalvesDiffer() throws {
        _ = try file.create(passphrase: nil)
        let pem = String(decoding: try folder.bytes("k/device.key"), as: UTF8.self).split(separator: "\n")
        var der = try #require(Data(base64Encoded: pem.dropFirst().dropLast().joined()))
        // RFC 5915 in PKCS#8: the private scalar begins at byte 36.
        der[40] ^= 1
        let text = "-----BEGIN PRIVATE KEY-----\n\(der.base64EncodedString())\n-----END PRIVATE KEY-----\n"
        try folder.write(text, to: "k/device.key")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        #expect(refusal { try file.load(passphrase: nil) }?.code == .keyDamaged)
    }
}
