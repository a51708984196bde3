import CaptureBundle
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

    private func mode(_ name: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: folder.path(name))
        return try #require(attributes[.posixPermissions] as? Int)
    }

    @Test func keepsItsFilesToItself() throws {
        _ = try file.create(passphrase: nil)
        #expect(try mode("k") == 0o700)
        #expect(try mode("k/device.key") == 0o600)
        #expect(try mode("k/device.key.state") == 0o600)
    }

    @Test func isNeverOverwritten() throws {
        let device = try file.create(passphrase: nil)
        let error = #expect(throws: BundleError.self) { try file.create(passphrase: nil) }
        #expect(error?.code == .outputExists)
        #expect(try file.load(passphrase: nil).point == device.point)
    }

    @Test(arguments: [0o640, 0o604, 0o660])
    func isRefusedWhenOthersCanReadIt(mode: Int) throws {
        _ = try file.create(passphrase: nil)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
        let error = #expect(throws: BundleError.self) { try file.load(passphrase: nil) }
        #expect(error?.code == .keyOpenToOthers)
    }

    @Test func givesEachCounterOnce() async throws {
        let device = try file.create(passphrase: nil)
        let file = file
        let counters = try await withThrowingTaskGroup(of: [UInt32].self) { group in
            for _ in 0..<8 {
                group.addTask { try (0..<10).map { _ in try file.reserveCounters(3, for: device) } }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        let all = counters.flatMap { [$0, $0 + 1, $0 + 2] }
        #expect(Set(all).count == 240)
        #expect(try file.state().counter == 240)
    }

    @Test func saysHowToGetOnAfterItsStateWasLost() throws {
        let device = try file.create(passphrase: nil)
        #expect(try file.reserveCounters(5, for: device) == 1)
        let state = try folder.bytes("k/device.key.state")
        for damage in [[], Array(state.dropLast()), state + [0x0a], state.map { $0 == 0x35 ? 0x36 : $0 }] {
            try folder.write(damage, to: "k/device.key.state")
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o600], ofItemAtPath: FilePath("\(file.path).state"))
            let error = #expect(throws: BundleError.self) { try file.reserveCounters(1, for: device) }
            #expect(error?.code == .keyState)
            #expect(error?.hints.contains { $0.contains("key recover --counter") } == true)
        }
        try FileManager.default.removeItem(atPath: FilePath("\(file.path).state"))
        #expect(throws: BundleError.self) { try file.reserveCounters(1, for: device) }
        #expect(try file.recover(counter: 5).isNewSalt)
        #expect(try file.reserveCounters(1, for: device) == 6)
        let error = #expect(throws: BundleError.self) { try file.recover(counter: 5) }
        #expect(error?.code == .keyState)
        #expect(try !file.recover(counter: 9).isNewSalt)
    }

    @Test func endsWhenItsCounterIsUsedUp() throws {
        let device = try file.create(passphrase: nil)
        _ = try file.recover(counter: UInt32.max - 2)
        #expect(throws: BundleError.self) { try file.reserveCounters(3, for: device) }
        #expect(try file.reserveCounters(2, for: device) == UInt32.max - 1)
        let error = #expect(throws: BundleError.self) { try file.reserveCounters(1, for: device) }
        #expect(error?.code == .keyCounterUsedUp)
    }

    @Test func leavesTheStateOfAKeyThatIsAwayAlone() throws {
        let device = try file.create(passphrase: nil)
        _ = try file.reserveCounters(1, for: device)
        let state = try folder.bytes("k/device.key.state")
        try FileManager.default.moveItem(atPath: file.path, toPath: folder.path("away"))
        let error = #expect(throws: BundleError.self) { try file.create(passphrase: nil) }
        #expect(error?.code == .outputExists)
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
        let error = #expect(throws: BundleError.self) { try file.load(passphrase: nil) }
        #expect(error?.code == .keyDamaged)
    }

    @Test func saysWhichCommandMakesAKey() {
        let error = #expect(throws: BundleError.self) { try file.load(passphrase: nil) }
        #expect(error?.code == .keyMissing)
        #expect(error?.hints == ["make one with: capbundle key new --key \(file.path)"])
    }
}
